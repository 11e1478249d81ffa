import { shortText } from './cut-text.js';
import { JsonCount, type JsonLoss, scanJson } from './json-scan.js';
import { randomId } from './random-id.js';

/** What parsing changed or dropped, and a phrase for it. */
interface Loss {
  kind: JsonLoss['kind'];
  phrase: string;
}

/** What parsing changed or dropped, by array or object and by key. */
const changed = new WeakMap<object, Map<string, Loss>>();

const MAX_SHOWN = 40;

type Container = { [key: string]: unknown };
/** A lost number or name, as written. */
type Lost = Pick<JsonLoss, 'kind'> & { token: string };

/**
 * Like JSON.parse, which rounds 9007199254740993, reads 1e400 as Infinity and drops the first of two members with the
 * same name, but remembers each loss: ask `lossIn` before using a value that must be exact.
 * @param count shared by all texts with a common limit
 * @throws SyntaxError, JsonOutOfBounds
 */
export function parseExactJson(text: string, count = new JsonCount()): unknown {
  return parseScannedJson(text, scanJson(text, count));
}

/** The same for a text that was already scanned, possibly on another thread. */
export function parseScannedJson(text: string, losses: readonly JsonLoss[]): unknown {
  if (losses.length === 0) return JSON.parse(text) as unknown;
  // Each lost token is parsed as a unique string, then restored where the parser has put it.
  const mark = `${randomId()}:`;
  let marked = '';
  let from = 0;
  for (const [at, { start, end }] of losses.entries()) {
    marked += `${text.slice(from, start)}"${mark}${at}"`;
    from = end;
  }
  const lost = losses.map(({ kind, start, end }): Lost => ({ kind, token: text.slice(start, end) }));
  const root = { value: JSON.parse(marked + text.slice(from)) as unknown };
  restore(root, mark, lost);
  return root.value;
}

/**
 * What parsing lost of the value under `key`, as a phrase that follows "holds"; null if nothing.
 * @param kind only this kind of loss
 */
export function lossIn(holder: object, key: string, kind?: JsonLoss['kind']): string | null {
  const own = changed.get(holder)?.get(key);
  return own && isOfKind(own, kind) ? own.phrase : lossBelow((holder as Container)[key], kind);
}

/** Names that an object has more than once in its text. Only the last member of each was kept. */
export function repeatedNames(object: object): string[] {
  const losses = [...(changed.get(object) ?? [])];
  return losses.filter(([, { kind }]) => kind === 'name').map(([name]) => name);
}

function lossBelow(value: unknown, kind: JsonLoss['kind'] | undefined): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const loss of changed.get(value)?.values() ?? []) if (isOfKind(loss, kind)) return loss.phrase;
  for (const item of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    const found = lossBelow(item, kind);
    if (found !== null) return found;
  }
  return null;
}

function isOfKind(loss: Loss, kind: JsonLoss['kind'] | undefined): boolean {
  return kind === undefined || loss.kind === kind;
}

function restore(container: Container, mark: string, lost: readonly Lost[]): void {
  for (const key of Object.keys(container)) {
    const value = container[key];
    if (typeof value === 'object' && value !== null) restore(value as Container, mark, lost);
    else if (typeof value === 'string' && value.startsWith(mark)) {
      const { token } = lostAt(value, mark, lost, 'number');
      container[key] = Number(token);
      const shown = shortText(token, MAX_SHOWN);
      const phrase = `the number ${shown}, which JavaScript cannot keep exactly; send it as a string`;
      note(container, key, { kind: 'number', phrase });
    }
    if (key.startsWith(mark)) restoreName(container, key, lostAt(key, mark, lost, 'name').token);
  }
}

/** As in JSON.parse, the last member with a name wins. */
function restoreName(container: Container, key: string, token: string): void {
  const name = JSON.parse(token) as string;
  // An assignment to `__proto__` would change the prototype.
  const value = container[key];
  Object.defineProperty(container, name, { value, configurable: true, enumerable: true, writable: true });
  delete container[key];
  const phrase = `the name ${shortText(token, MAX_SHOWN)} twice in one object; send each name once`;
  note(container, name, { kind: 'name', phrase });
}

function lostAt(marked: string, mark: string, lost: readonly Lost[], kind: JsonLoss['kind']): Lost {
  const found = lost[Number(marked.slice(mark.length))]!;
  if (found.kind !== kind)
    throw new SyntaxError('A lost number is not a name, and a lost name is not a value');
  return found;
}

function note(container: Container, key: string, loss: Loss): void {
  changed.set(container, (changed.get(container) ?? new Map<string, Loss>()).set(key, loss));
}
