import { randomId } from './random-id.js';

/** Arrays and objects of parsed JSON that hold numbers which parsing has changed: by key, as they were written. */
const changed = new WeakMap<object, Map<string, string>>();

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const QUOTE = 0x22;
const MINUS = 0x2d;
const SAFE_DIGITS = 15;
const MAX_SHOWN = 40;
/** Each costs some microseconds, in which nobody else is served. */
const MAX_LOSSY = 50_000;

/** There are more numbers that parsing would change than anybody means to send. */
export class TooManyLossyNumbers extends Error {
  override readonly message = `has more than ${MAX_LOSSY} numbers that JavaScript cannot keep exactly; send them as strings`;
}

type Container = { [key: string]: unknown };

/**
 * JSON.parse, which rounds 9007199254740993 and takes 1e400 for Infinity, and remembers where it did so: whoever must
 * not change a value asks `lossyNumberIn`.
 * @throws SyntaxError, TooManyLossyNumbers
 */
export function parseExactJson(text: string): unknown {
  const lossy = lossyNumbers(text);
  if (lossy.length === 0) return JSON.parse(text) as unknown;
  // Each such number is parsed as a string that no other text can hold, then put back where the parser has placed it.
  const mark = `${randomId()}:`;
  let marked = '';
  let from = 0;
  for (const [at, { start, token }] of lossy.entries()) {
    marked += `${text.slice(from, start)}"${mark}${at}"`;
    from = start + token.length;
  }
  const tokens = lossy.map(({ token }) => token);
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

/** Number tokens outside of strings that a double cannot say. The text need not be sound JSON. */
function lossyNumbers(text: string): { start: number; token: string }[] {
  const found: { start: number; token: string }[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (isDigit(code)) {
      const end = endOfDigits(text, at);
      const isShort = end - at <= SAFE_DIGITS && !'.eE'.includes(text.charAt(end) || ',');
      if (!isShort) {
        NUMBER.lastIndex = text.charCodeAt(at - 1) === MINUS ? at - 1 : at;
        const { 0: token, index: start } = NUMBER.exec(text)!;
        if (isLossy(token)) found.push({ start, token });
        if (found.length > MAX_LOSSY) throw new TooManyLossyNumbers();
        at = start + token.length - 1;
      } else at = end - 1;
    }
  }
  return found;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function endOfDigits(text: string, start: number): number {
  let end = start + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function isLossy(token: string): boolean {
  if (token.length <= SAFE_DIGITS && !/[eE]/.test(token)) return false;
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  // 2^53 itself is exact, but 2^53 + 1 reads as it too: they differ in how they were written.
  if (Math.abs(value) > 2 ** 53 && /^-?\d+$/.test(token)) return true;
  return decimal(token) !== decimal(String(value));
}

/** A number's digits and exponent, the same for every way to write it. */
function decimal(token: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    token,
  )!;
  const digits = `${whole}${fraction}`;
  // By hand: a pattern for trailing zeros would look at every run of zeros again and again.
  let [start, end] = [0, digits.length];
  while (digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** Index of the quote that ends the string which starts at `start`; the text's length where none does. */
export function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}
