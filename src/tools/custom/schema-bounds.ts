import { shortText } from '@patchbay/protocol';

/** Nesting of a schema. */
const MAX_DEPTH = 32;
/** Keywords, property names and list items of a schema. */
const MAX_ENTRIES = 5_000;
/** Longest place that a fault repeats, in characters. */
const MAX_PLACE = 200;
/** The `$schema` values of the two drafts. */
const DRAFTS = new Map<string, Draft>([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
]);
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
/** Keywords that would change the base of references, or load other vocabularies. */
const UNSUPPORTED = ['$id', 'id', '$schema', '$vocabulary'];
/** Keywords whose value is data: nothing in it is a keyword. */
export const DATA = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose value maps names to schemas. */
const MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** Keywords whose schemas apply to the same value. */
const SAME_VALUE = new Set([
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'],
]);

export type Draft = '2020-12' | 'draft-07';
/** `map`: its keys are names. `data`: nothing in it is a keyword. */
type Kind = 'schema' | 'map' | 'data';
type Node = { readonly [keyword: string]: unknown };

/** The draft of a schema; null if `$schema` is neither of the two. */
export function draftOf({ $schema = 'https://json-schema.org/draft/2020-12/schema' }: Node): Draft | null {
  return typeof $schema === 'string' ? (DRAFTS.get($schema.replace(/#$/, '')) ?? null) : null;
}

/** Why a foreign schema is refused before it is compiled, with the place in it; null if it is not. */
export function boundsFault(schema: Node): string | null {
  if (draftOf(schema) === null)
    return `${at('/$schema')} must be draft 2020-12 or draft-07; without $schema it is 2020-12`;
  const walk = new Walk();
  const { $schema: _draft, $id: _id, ...root } = schema;
  return walk.faultOf(root, '', 0) ?? walk.endlessReference(root);
}

/** A place in a schema, for a message. */
export function at(pointer: string): string {
  return pointer === '' ? 'at its root' : `at ${shortText(pointer, MAX_PLACE)}`;
}

/** One pass over a schema, which also collects its references. */
class Walk {
  private entries = 0;
  private readonly nodes = new Map<string, Node>();
  private readonly anchors = new Map<string, string>();

  faultOf(value: unknown, place: string, depth: number, kind: Kind = 'schema'): string | null {
    if (typeof value !== 'object' || value === null) return null;
    if (depth > MAX_DEPTH) return `${at(place)} nests deeper than ${MAX_DEPTH} levels`;
    this.entries += Array.isArray(value) ? value.length : Object.keys(value).length;
    if (this.entries > MAX_ENTRIES) return `has more than ${MAX_ENTRIES} keywords, names and items`;
    const fault = kind === 'schema' && !Array.isArray(value) ? this.keywordFault(value as Node, place) : null;
    if (fault !== null) return fault;
    for (const [key, below] of Object.entries(value)) {
      const found = this.faultOf(below, `${place}/${escaped(key)}`, depth + 1, kindBelow(value, kind, key));
      if (found !== null) return found;
    }
    return null;
  }

  /** Why references never end: a schema that leads back to itself for the same value. */
  endlessReference(root: Node): string | null {
    const done = new Set<string>();
    for (const place of this.nodes.keys()) {
      const found = this.cycleFrom(place, new Set(), done, root);
      if (found !== null) return `${at(found)} refers to itself without end`;
    }
    return null;
  }

  private keywordFault(node: Node, place: string): string | null {
    this.nodes.set(place, node);
    for (const keyword of ['$anchor', '$dynamicAnchor'])
      if (typeof node[keyword] === 'string') this.anchors.set(node[keyword], place);
    for (const keyword of UNSUPPORTED)
      if (typeof node[keyword] === 'string' && (place !== '' || keyword === '$vocabulary'))
        return `${at(`${place}/${keyword}`)} is only supported at the root`;
    for (const keyword of REFERENCES) {
      const reference = node[keyword];
      if (reference !== undefined && (typeof reference !== 'string' || !reference.startsWith('#')))
        return `${at(`${place}/${keyword}`)} must refer to a place in the schema itself, such as #/$defs/name`;
    }
    return null;
  }

  private cycleFrom(place: string, path: Set<string>, done: Set<string>, root: Node): string | null {
    if (path.has(place)) return place;
    const node = this.nodes.get(place);
    if (node === undefined || done.has(place)) return null;
    path.add(place);
    for (const next of this.onSameValue(node, place)) {
      const found = this.cycleFrom(next, path, done, root);
      if (found !== null) return found;
    }
    path.delete(place);
    done.add(place);
    return null;
  }

  /** Places of the schemas that a schema applies to the same value. */
  private *onSameValue(node: Node, place: string): Generator<string> {
    for (const keyword of REFERENCES) {
      const reference = node[keyword];
      if (typeof reference === 'string') yield this.placeOf(reference);
    }
    for (const [keyword, below] of Object.entries(node)) {
      if (!SAME_VALUE.has(keyword) || typeof below !== 'object' || below === null) continue;
      const isOne = !Array.isArray(below) && !MAPS.has(keyword);
      if (isOne) yield `${place}/${keyword}`;
      else for (const key of Object.keys(below)) yield `${place}/${keyword}/${escaped(key)}`;
    }
  }

  private placeOf(reference: string): string {
    const fragment = decoded(reference.slice(1));
    return fragment === '' || fragment.startsWith('/') ? fragment : (this.anchors.get(fragment) ?? fragment);
  }
}

/** What a value below a schema is: its keywords decide. */
function kindBelow(value: object, kind: Kind, key: string): Kind {
  if (kind === 'data') return 'data';
  if (kind === 'map' || Array.isArray(value)) return 'schema';
  return DATA.has(key) ? 'data' : MAPS.has(key) ? 'map' : 'schema';
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
