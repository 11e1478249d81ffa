/** Limits of one JSON text, or of several that come together, so that parsing does not block others. */
export const MAX_JSON_DEPTH = 250;
/** Limit of values in a JSON text. */
export const MAX_JSON_VALUES = 250_000;
/** Limit of distinct member names: a new name costs a parser as much as ten values. */
export const MAX_JSON_NAMES = 50_000;
/** Limit of inexact numbers and repeated names, each of which costs some microseconds. */
const MAX_LOSSY = 10_000;
/** Limit of numbers that need a closer look. */
const MAX_LONG = 100_000;

const QUOTE = 0x22;
const ZERO = 0x30;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A double holds this many digits exactly, with an exponent up to the same number. */
const SAFE_DIGITS = 15;
const SAFE_EXPONENT_DIGITS = 2;

/** Classes of characters. */
const [OTHER, STRING, DIGIT, LITERAL, OPEN, CLOSE, NAMED] = [0, 1, 2, 3, 4, 5, 6];
const KINDS = new Uint8Array(128);
for (const [kind, characters] of [
  [STRING, '"'],
  [DIGIT, '0123456789'],
  [LITERAL, 'tfn'],
  [OPEN, '[{'],
  [CLOSE, ']}'],
  [NAMED, ':'],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;
}

/** The text exceeds a limit; the message follows a subject such as "The body". */
export class JsonOutOfBounds extends Error {
  override readonly name = 'JsonOutOfBounds';
}

/** Counts the content of the texts of one request, so that they share one limit. */
export class JsonCount {
  private values = 0;
  private names = 0;
  private long = 0;
  private lossy = 0;
  private repeated = 0;

  addValue(): void {
    if ((this.values += 1) > MAX_JSON_VALUES) {
      throw new JsonOutOfBounds(`holds more than ${MAX_JSON_VALUES} values; send less at once, or as text`);
    }
  }

  addNames(count: number, distinct: () => number): void {
    if (this.names + count > MAX_JSON_NAMES) count = distinct();
    if ((this.names += count) > MAX_JSON_NAMES) {
      throw new JsonOutOfBounds(
        `holds more than ${MAX_JSON_NAMES} different names; send less at once, or as text`,
      );
    }
  }

  addLongNumber(): void {
    if ((this.long += 1) > MAX_LONG) {
      throw new JsonOutOfBounds(
        `has more than ${MAX_LONG} numbers of more than ${SAFE_DIGITS} digits; send them as strings`,
      );
    }
  }

  addLossyNumber(): void {
    if ((this.lossy += 1) > MAX_LOSSY) {
      throw new JsonOutOfBounds(
        `has more than ${MAX_LOSSY} numbers that JavaScript cannot keep exactly; send them as strings`,
      );
    }
  }

  addRepeatedName(): void {
    if ((this.repeated += 1) > MAX_LOSSY) {
      throw new JsonOutOfBounds(`repeats more than ${MAX_LOSSY} names of an object; send each name once`);
    }
  }
}

/** A loss in parsing: a number that a double cannot hold, or a repeated member name. `from` and `to` are its offsets. */
export interface JsonLoss {
  kind: 'number' | 'name';
  start: number;
  end: number;
}

/** Up to this many names are compared one by one; more are looked up. */
const FEW_NAMES = 8;

/** The names of one object, as far as it was read. */
class ObjectNames {
  private readonly first: string[] = [];
  private all: Set<string> | null = null;

  /** Whether the name occurred before, in any escaped spelling. */
  repeats(name: string): boolean {
    const { first } = this;
    if (this.all === null && first.length < FEW_NAMES) {
      if (first.includes(name)) return true;
      first.push(name);
      return false;
    }
    this.all ??= new Set(first);
    return this.all.size === this.all.add(name).size;
  }
}

/**
 * Scans a JSON text, valid or not, once, and finds what parsing would change or drop, in order.
 * @throws JsonOutOfBounds as soon as a limit is exceeded; SyntaxError for some invalid texts.
 */
export function scanJson(text: string, count = new JsonCount()): JsonLoss[] {
  const lossy: JsonLoss[] = [];
  /** The names of each open object; null for a list, and before the first name. */
  const open: (ObjectNames | null)[] = [];
  let names = 0;
  for (let at = nextToken(text, 0); at < text.length; at = nextToken(text, at + 1)) {
    switch (kindAt(text, at)) {
      case STRING: {
        const start = at;
        const end = endOfString(text, at) + 1;
        at = nextToken(text, end);
        if (text.charCodeAt(at) === COLON) {
          names += 1;
          const own = (open[open.length - 1] ??= new ObjectNames());
          if (own.repeats(nameAt(text, start, end))) {
            count.addRepeatedName();
            lossy.push({ kind: 'name', start, end });
          }
        } else {
          count.addValue();
          at -= 1;
        }
        break;
      }
      case DIGIT:
        count.addValue();
        at = scanNumber(text, at, count, lossy) - 1;
        break;
      case LITERAL:
        count.addValue();
        at += 3;
        break;
      case OPEN:
        count.addValue();
        if (open.push(null) > MAX_JSON_DEPTH) {
          throw new JsonOutOfBounds(`is nested deeper than ${MAX_JSON_DEPTH} levels`);
        }
        break;
      case CLOSE:
        open.pop();
    }
  }
  count.addNames(names, () => distinctNames(text));
  return lossy;
}

/** Index of the closing quote of the string that starts at `start`; the length of the text if there is none. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  if (end === -1) return text.length;
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end;
  // There may be millions of escaped quotes, so searching for quotes would be quadratic.
  for (end = start + 1; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) return end;
    if (code === BACKSLASH) end += 1;
  }
  return text.length;
}

/** Index of the next character, from `at` on, that begins or closes a value, or is a colon. */
function nextToken(text: string, at: number): number {
  while (at < text.length && kindAt(text, at) === OTHER) at += 1;
  return at;
}

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? KINDS[code]! : OTHER;
}

/** A member name with its escapes resolved; the raw text if it is invalid. */
function nameAt(text: string, start: number, end: number): string {
  const name = text.slice(start, end);
  if (!name.includes('\\')) return name;
  try {
    return JSON.stringify(JSON.parse(name));
  } catch {
    return name;
  }
}

function distinctNames(text: string): number {
  const seen = new Set<string>();
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    const end = endOfString(text, at);
    if (text.charCodeAt(nextToken(text, end + 1)) === COLON) seen.add(text.slice(at, end));
    if (seen.size > MAX_JSON_NAMES) return seen.size;
    at = end;
  }
  return seen.size;
}

/** Records the number at `first` if parsing would change it; returns its end. */
function scanNumber(text: string, first: number, count: JsonCount, lossy: JsonLoss[]): number {
  let end = endOfDigits(text, first);
  let digits = text.startsWith('0', first) ? 0 : end - first;
  if (text.charCodeAt(end) === POINT) {
    const point = end;
    end = endOfDigits(text, point + 1);
    digits += end - point - 1;
  }
  let exponentDigits = 0;
  if ((text.charCodeAt(end) | 0x20) === 0x65) {
    end += 1;
    const sign = text.charCodeAt(end);
    if (sign === PLUS || sign === MINUS) end += 1;
    const from = end;
    end = endOfDigits(text, from);
    exponentDigits = end - from;
  }
  const isNegative = text.charCodeAt(first - 1) === MINUS;
  const isShort = digits <= SAFE_DIGITS && exponentDigits <= SAFE_EXPONENT_DIGITS;
  if (isShort && !(isNegative && text.charCodeAt(first) === ZERO)) return end;
  if (!isShort) count.addLongNumber();
  const start = isNegative ? first - 1 : first;
  const token = text.slice(start, end);
  if (isLossy(token)) {
    if (!NUMBER.test(token)) throw new SyntaxError('A number is not valid JSON');
    count.addLossyNumber();
    lossy.push({ kind: 'number', start, end });
  }
  return end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function isLossy(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  // It would be written back as 0.
  if (Object.is(value, -0)) return true;
  const shortest = String(value);
  // 2^53 is exact, but 2^53 + 1 is read as 2^53 too; only the text tells them apart.
  if (Math.abs(value) > 2 ** 53 && /^-?\d+$/.test(token)) return true;
  return token !== shortest && decimal(token) !== decimal(shortest);
}

/** A number's digits and exponent, equal for all spellings. */
function decimal(token: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = `${whole}${fraction}`;
  // A pattern for trailing zeros would visit each run of zeros repeatedly.
  let [start, end] = [0, digits.length];
  while (digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
