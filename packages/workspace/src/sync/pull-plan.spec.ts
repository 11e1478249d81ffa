import type { CloudFile } from '@patchbay/protocol';
import { type PullInput, planPull } from './pull-plan.js';

const cloudFile = (docPath: string, sha256: string): CloudFile => ({
  ...{ fileId: `id of ${docPath}`, path: `/${docPath}`, docPath, sha256, sizeBytes: 1, headVersionId: 'v' },
  ...{ updatedAt: '', deletedAt: null },
});

/** Each name is `<local>-<base>-<remote>`, such as `a-a-b`; `_` means that there is none. */
function planOf(names: readonly string[], more: Partial<PullInput> = {}) {
  const input: PullInput = {
    ...{ remote: new Map(), local: new Map(), bases: new Map(), force: false, delete: false },
    textOnly: false,
    wasExecutable: () => false,
    namesOf: (docPath) => ({ localPath: docPath.slice(2), cloudPath: `/${docPath}` }),
    ...more,
  };
  for (const name of names) {
    const [here, before, there] = name.split('-');
    const docPath = `p/${name}`;
    if (here !== '_')
      (input.local as Map<string, object>).set(docPath, { path: name, sha256: here, isText: here !== 'B' });
    if (before !== '_') (input.bases as Map<string, string>).set(docPath, before!);
    if (there !== '_') (input.remote as Map<string, object>).set(docPath, cloudFile(docPath, there!));
  }
  const plan = planPull(input);
  return {
    writes: plan.writes.map(({ path, replaces, keep }) => `${path} over ${replaces}${keep ? ', kept' : ''}`),
    deletions: plan.deletions.map(({ path, sha256, keep }) => `${path} of ${sha256}${keep ? ', kept' : ''}`),
    same: plan.same.map(({ docPath, sha256 }) => `${docPath.slice(2)} is ${sha256}`),
    kept: plan.kept.map(({ path }) => path),
    conflicts: plan.conflicts.map(({ path }) => path),
  };
}

const NOTHING = { writes: [], deletions: [], same: [], kept: [], conflicts: [] };
const ALL = 'a-a-a a-a-b _-_-b b-a-a _-a-a b-a-c a-_-b _-a-b a-a-_ b-a-_ _-a-_'.split(' ');

describe('the plan of a pull', () => {
  it('writes new and changed Cloud files, and replaces only the base', () => {
    expect(planOf(['a-a-b', '_-_-b'])).toEqual({ ...NOTHING, writes: ['a-a-b over a', '_-_-b over null'] });
  });

  it('records files that are equal on both sides or gone on both', () => {
    const same = ['a-a-a is a', 'b-a-b is b', '_-a-_ is null'];
    expect(planOf(['a-a-a', 'b-a-b', '_-a-_'])).toEqual({ ...NOTHING, same });
  });

  it('keeps files that were changed or deleted locally', () => {
    expect(planOf(['b-a-a', '_-a-a'])).toEqual({ ...NOTHING, kept: ['b-a-a', '_-a-a'] });
  });

  it('reports files that were changed on both sides as conflicts', () => {
    const conflicts = ['b-a-c', 'a-_-b', '_-a-b', 'b-a-_'];
    expect(planOf(conflicts)).toEqual({ ...NOTHING, conflicts });
  });

  it('deletes files that were deleted in the Cloud only with `delete`', () => {
    expect(planOf(['a-a-_'])).toEqual({ ...NOTHING, kept: ['a-a-_'] });
    expect(planOf(['a-a-_'], { delete: true })).toEqual({ ...NOTHING, deletions: ['a-a-_ of a'] });
  });

  it('with `force` makes the folder equal to the Cloud, and keeps content that is in no version', () => {
    const plan = planOf([...ALL, 'a-_-_', 'B-_-_'], { force: true });
    expect(plan.writes).toEqual([
      ...['a-a-b over a', '_-_-b over null', 'b-a-a over b, kept', '_-a-a over null', 'b-a-c over b, kept'],
      ...['a-_-b over a, kept', '_-a-b over null'],
    ]);
    expect(plan.deletions).toEqual(['a-a-_ of a', 'b-a-_ of b, kept']);
    expect([plan.conflicts, plan.kept]).toEqual([[], ['a-_-_']]);
  });

  it('with `force` and `delete` keeps local-only text under a second name and ignores other files', () => {
    const plan = planOf(['a-_-_', 'B-_-_'], { force: true, delete: true });
    expect(plan.deletions).toEqual(['a-_-_ of a, kept']);
  });

  it('replaces and deletes nothing but the base without `force`', () => {
    const plan = planOf(ALL, { delete: true });
    for (const touched of [...plan.writes, ...plan.deletions]) {
      const [here, before] = touched.split(' ')[0]!.split('-');
      expect(here).toBe(before);
    }
  });
});
