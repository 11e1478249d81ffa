import { JsonCount, type LossyNumber, scanJson } from './json-scan.js';
import { randomId } from './random-id.js';

/** Arrays and objects of parsed JSON that hold numbers which parsing has changed: by key, as they were written. */
const changed = new WeakMap<object, Map<string, string>>();

const MAX_SHOWN = 40;

type Container = { [key: string]: unknown };

/**
 * JSON.parse, which rounds 9007199254740993 and takes 1e400 for Infinity, and remembers where it did so: whoever must
 * not change a value asks `lossyNumberIn`.
 * @param count of all texts that share its bounds
 * @throws SyntaxError, JsonOutOfBounds
 */
export function parseExactJson(text: string, count = new JsonCount()): unknown {
  return parseScannedJson(text, scanJson(text, count));
}

/** The same for a text that was scanned already, maybe on another thread. */
export function parseScannedJson(text: string, lossy: readonly LossyNumber[]): unknown {
  if (lossy.length === 0) return JSON.parse(text) as unknown;
  // Each such number is parsed as a string that no other text can hold, then put back where the parser has placed it.
  const mark = `${randomId()}:`;
  let marked = '';
  let from = 0;
  for (const [at, { start, end }] of lossy.entries()) {
    marked += `${text.slice(from, start)}"${mark}${at}"`;
    from = end;
  }
  const tokens = lossy.map(({ start, end }) => text.slice(start, end));
  const root = { value: JSON.parse(marked + text.slice(from)) as unknown };
  restore(root, mark, tokens);
  return root.value;
}

/** A number in the value under `key` that parsing has changed, as it was written; null where there is none. */
export function lossyNumberIn(holder: object, key: string): string | null {
  const token = changed.get(holder)?.get(key) ?? lossIn((holder as Container)[key]);
  return token !== null && token.length > MAX_SHOWN ? `${token.slice(0, MAX_SHOWN)}…` : token;
}

function lossIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const [own] = changed.get(value)?.values() ?? [];
  if (own !== undefined) return own;
  for (const item of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    const found = lossIn(item);
    if (found !== null) return found;
  }
  return null;
}

function restore(container: Container, mark: string, tokens: readonly string[]): void {
  for (const key of Object.keys(container)) {
    if (key.startsWith(mark)) throw new SyntaxError('A number is no key');
    const value = container[key];
    if (typeof value === 'object' && value !== null) restore(value as Container, mark, tokens);
    else if (typeof value === 'string' && value.startsWith(mark)) {
      const token = tokens[Number(value.slice(mark.length))]!;
      container[key] = Number(token);
      changed.set(container, (changed.get(container) ?? new Map<string, string>()).set(key, token));
    }
  }
}
