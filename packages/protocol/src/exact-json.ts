import { shortText } from './cut-text.js';
import { JsonCount, type JsonLoss, scanJson } from './json-scan.js';
import { randomId } from './random-id.js';

/** Arrays and objects of which parsing has changed or dropped something: by key, what that was. */
const changed = new WeakMap<object, Map<string, string>>();

const MAX_SHOWN = 40;

type Container = { [key: string]: unknown };
/** Something that was lost, as it was written. */
type Lost = Pick<JsonLoss, 'kind'> & { token: string };

/**
 * JSON.parse, which rounds 9007199254740993, takes 1e400 for Infinity and drops the first of two members of one name, and
 * remembers where it did so: whoever must not change a value asks `lossIn`.
 * @param count of all texts that share its bounds
 * @throws SyntaxError, JsonOutOfBounds
 */
export function parseExactJson(text: string, count = new JsonCount()): unknown {
  return parseScannedJson(text, scanJson(text, count));
}

/** The same for a text that was scanned already, maybe on another thread. */
export function parseScannedJson(text: string, losses: readonly JsonLoss[]): unknown {
  if (losses.length === 0) return JSON.parse(text) as unknown;
  // Each of them is parsed as a string that no other text can hold, then put back where the parser has placed it.
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

/** What parsing has lost of the value under `key`, as a phrase that follows "holds"; null where nothing was. */
export function lossIn(holder: object, key: string): string | null {
  return changed.get(holder)?.get(key) ?? lossBelow((holder as Container)[key]);
}

function lossBelow(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const [own] = changed.get(value)?.values() ?? [];
  if (own !== undefined) return own;
  for (const item of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    const found = lossBelow(item);
    if (found !== null) return found;
  }
  return null;
}

function restore(container: Container, mark: string, lost: readonly Lost[]): void {
  for (const key of Object.keys(container)) {
    const value = container[key];
    if (typeof value === 'object' && value !== null) restore(value as Container, mark, lost);
    else if (typeof value === 'string' && value.startsWith(mark)) {
      const { token } = lostAt(value, mark, lost, 'number');
      container[key] = Number(token);
      const shown = shortText(token, MAX_SHOWN);
      note(container, key, `the number ${shown}, which JavaScript cannot keep exactly; send it as a string`);
    }
    if (key.startsWith(mark)) restoreName(container, key, lostAt(key, mark, lost, 'name').token);
  }
}

/** As JSON.parse has it: the last member of a name is the one that stays. */
function restoreName(container: Container, key: string, token: string): void {
  const name = JSON.parse(token) as string;
  container[name] = container[key];
  delete container[key];
  note(container, name, `the name ${shortText(token, MAX_SHOWN)} twice in one object; send each name once`);
}

function lostAt(marked: string, mark: string, lost: readonly Lost[], kind: JsonLoss['kind']): Lost {
  const found = lost[Number(marked.slice(mark.length))]!;
  if (found.kind !== kind) throw new SyntaxError('A number is no name, and a name is no value');
  return found;
}

function note(container: Container, key: string, loss: string): void {
  changed.set(container, (changed.get(container) ?? new Map<string, string>()).set(key, loss));
}
