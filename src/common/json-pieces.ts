/** A longer string is serialized in parts, each of a few milliseconds at most. */
const PART = 256 * 1024;

/** How a form of JSON is written. */
interface Form {
  keysOf(holder: object): string[];
  /** Written before the end of a list or object that is not empty. */
  beforeEnd: string;
}

const PLAIN: Form = { keysOf: definedKeys, beforeEnd: '' };
const CANONICAL: Form = { keysOf: (holder) => definedKeys(holder).sort(), beforeEnd: ',' };

/** An array or object that is being written; `keys` is null for an array. */
interface Open {
  holder: Record<string | number, unknown>;
  keys: string[] | null;
  length: number;
  at: number;
}

/** The output of JSON.stringify, in pieces of at most a few hundred kilobytes. */
export function jsonPieces(value: unknown): Generator<string, void, void> {
  return piecesOf(value, PLAIN);
}

/** A text that identifies the value whatever the order of keys; it is not JSON. */
export function canonicalPieces(value: unknown): Generator<string, void, void> {
  return piecesOf(value, CANONICAL);
}

/** Whether a JSON value has more than about this many characters; stops counting there. */
export function isLongerThan(value: unknown, limit: number): boolean {
  let left = limit;
  const waiting: unknown[] = [value];
  while (left >= 0 && waiting.length > 0) {
    const next = waiting.pop();
    left -= typeof next === 'string' ? next.length : 8;
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next)) {
      if (next.length > left) return true;
      for (const item of next) waiting.push(item);
    } else {
      for (const key in next) {
        left -= key.length;
        waiting.push((next as Record<string, unknown>)[key]);
      }
    }
  }
  return left < 0;
}

/** Not recursive: nested generators would pass each piece on at every depth. */
function* piecesOf(value: unknown, form: Form): Generator<string, void, void> {
  const open: Open[] = [];
  for (let next = value; ;) {
    if (typeof next === 'object' && next !== null) {
      open.push(opened(next, form));
      yield Array.isArray(next) ? '[' : '{';
    } else if (typeof next === 'string' && next.length > PART) yield* spelledInParts(next);
    else yield JSON.stringify(next) ?? 'null';
    let last = open.at(-1);
    while (last !== undefined && last.at === last.length) {
      const end = last.keys === null ? ']' : '}';
      yield last.length > 0 ? `${form.beforeEnd}${end}` : end;
      open.pop();
      last = open.at(-1);
    }
    if (last === undefined) return;
    const comma = last.at > 0 ? ',' : '';
    const key = last.keys === null ? last.at : last.keys[last.at]!;
    last.at += 1;
    yield last.keys === null ? comma : `${comma}${JSON.stringify(key)}:`;
    next = last.holder[key];
  }
}

function opened(value: object, form: Form): Open {
  const holder = value as Open['holder'];
  if (Array.isArray(value)) return { holder, keys: null, length: value.length, at: 0 };
  const keys = form.keysOf(value);
  return { holder, keys, length: keys.length, at: 0 };
}

function definedKeys(holder: object): string[] {
  return Object.keys(holder).filter((key) => (holder as Record<string, unknown>)[key] !== undefined);
}

/** Serializes a long string in parts; no cut splits a surrogate pair, whose halves would be escaped. */
function* spelledInParts(text: string): Generator<string, void, void> {
  yield '"';
  for (let from = 0; from < text.length;) {
    const to = endOfPart(text, from);
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function endOfPart(text: string, from: number): number {
  const to = from + PART;
  if (to >= text.length) return text.length;
  const last = text.charCodeAt(to - 1);
  return last >= 0xd800 && last <= 0xdbff ? to - 1 : to;
}
