import { createHash } from 'node:crypto';
import type { Json } from '@patchbay/protocol';
import { validatorOf } from './build.js';
import { COLLECTIONS, LAYOUT } from './collections.js';

/** The layout, and of each of its collections a digest of the validator. */
const PINNED: { layout: number; collections: { [name: string]: string } } = {
  layout: 1,
  collections: {
    users: '95e75fda0806cadd',
    first_user: 'ab7678d2305316a4',
    logins: 'f05fabb30758fddc',
    workspaces: '3a7d2ee256456d1c',
    contracts: '2bf005c5d8f59ca3',
    sessions: '08301a10522a61e4',
    clients: 'aa29feec3f1b4081',
    roots: '380601f08c7a7c5e',
    idempotency_keys: '78d8c246678bb9dc',
    checks: '441ffb254e918238',
    validators: '3f9f9c98bc848fd6',
    parts: 'f71dd0874a02f7f2',
    patches: 'acbce99ed8d5620e',
    patch_ids: '5b2020988ad0fba7',
    audit_events: 'bc5dd76881c15c8d',
    turns: '9fde0907f32d9fc9',
    turn_texts: '1098a8f8b9304ac2',
    turn_bytes: 'bd61dbb80b96f7b3',
    blobs: '6acc2cef8dd46c05',
    entries: 'e50fd14713bf5a54',
    versions: '997dd24f28e51f98',
    folder_spellings: 'b1d023350c8be4b6',
    usage: 'ed85e80119327ce6',
    usage_counting: '7aa04c2c299a5902',
  },
};

const MENDING = `The documents on MongoDB are not those of layout ${PINNED.layout}, which is pinned in layout.spec.ts.
Was a Patchbay with that layout released? Then LAYOUT in collections.ts has to be one more, so that an older server leaves
the validators that a newer one has set, and what is stored has to fit the new ones. Else LAYOUT stays. Then pin:`;

function digestOf(value: Json): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, 16);
}

/** A validator is the same in another order of its keys. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('the layout of the database on MongoDB', () => {
  it('has a new number where the validator of a collection is another one', () => {
    const collections = Object.fromEntries(
      COLLECTIONS.map((collection) => [collection.name, digestOf(validatorOf(collection) as Json)]),
    );
    const now = { layout: LAYOUT, collections };
    const changed = Object.keys({ ...PINNED.collections, ...collections }).filter(
      (name) => PINNED.collections[name] !== collections[name],
    );
    if (changed.length === 0 && PINNED.layout === LAYOUT) return;
    throw new Error(`${MENDING}\n${JSON.stringify(now, null, 2)}\nOthers are: ${changed.join(', ')}`);
  });
});
