import { shortText } from '../cut-text.js';
import { jsonFault } from '../json-fault.js';
import { type ReportFault } from './faults.js';

const SHOWN_CHARS = 80;

/** Limit of a key or id in characters. */
export const MAX_KEY_CHARS = 256;

/** Cuts a text for a message, so that a report stays readable for any input. */
export function cut(text: string, max = SHOWN_CHARS): string {
  return shortText(text, max);
}

/** Describes a value for a message. Shallow, since the value may be nested deeper than the stack. */
export function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `the string ${JSON.stringify(cut(value))}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The same for an expected list or object; for a string that was meant as one, why it is not JSON. */
export function describeForm(value: unknown): string {
  const fault = typeof value === 'string' && /^\s*[[{]/.test(value) ? jsonFault(value) : null;
  return fault === null ? describe(value) : `${describe(value)}, which is not valid JSON: ${fault}`;
}

export type PlainObject = Record<string, unknown>;

export function isObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own property, so that nothing is read from a prototype; null counts as absent. */
export function own(object: PlainObject, name: string): unknown {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return value === null ? undefined : value;
}

const lettersOf = (name: string): string =>
  cut(name)
    .replace(/[^a-z0-9]/gi, '')
    .toLowerCase();

/** Reports property names that `allowed` does not have, including `__proto__`, in one fault. */
export function reportUnknown(
  names: readonly string[],
  allowed: readonly string[],
  what: string,
  report: ReportFault,
): void {
  const unknown = names.filter((name) => !allowed.includes(name));
  if (unknown.length === 0) return;
  report('SCHEMA', () => {
    const named = unknown.slice(0, 5).map((name) => {
      const meant = allowed.find((known) => lettersOf(known) === lettersOf(name));
      return `"${cut(name)}"${meant === undefined ? '' : ` (did you mean "${meant}"?)`}`;
    });
    const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : '';
    return `${what} has no field ${named.join(', ')}${more}. Remove it; allowed are: ${allowed.join(', ')}.`;
  });
}

/** A lone surrogate, which UTF-8 cannot hold. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

/** An optional string property; null if absent or faulty. `maxChars` bounds keys and ids. */
export function optionalString(
  object: PlainObject,
  name: string,
  report: ReportFault,
  maxChars = Infinity,
): string | null {
  const value = own(object, name);
  if (value === undefined) return null;
  if (typeof value !== 'string') {
    report(
      'SCHEMA',
      () => `${name} must be a string, but it is ${describe(value)}. Send a string or omit it.`,
    );
    return null;
  }
  if (value.length > maxChars) {
    report(
      'SCHEMA',
      () => `${name} has ${value.length} characters; at most ${maxChars} are allowed. Shorten it.`,
    );
    return null;
  }
  if (LONE_SURROGATE.test(value)) {
    report(
      'NOT_TEXT',
      () => `${name} holds half of a surrogate pair, which is no text. Remove that character.`,
    );
    return null;
  }
  return value;
}

/** A required whole number, as a JSON number; null if faulty. */
export function wholeNumber(object: PlainObject, name: string, report: ReportFault): number | null {
  const value = own(object, name);
  if (Number.isSafeInteger(value)) return value as number;
  report('SCHEMA', () => {
    const isQuoted =
      typeof value === 'string' && value.length <= SHOWN_CHARS && /^\s*\d{1,15}\s*$/.test(value);
    const mend = isQuoted ? `: send ${Number(value)} without quotes` : '';
    return `${name} must be a whole number, but it is ${describe(value)}${mend}.`;
  });
  return null;
}

/** A key as sent, cut, so that a fault can name it even if it is faulty itself. */
export function ownText(object: PlainObject, name: string, maxChars: number): string | null {
  const value = own(object, name);
  return typeof value === 'string' ? cut(value, maxChars) : null;
}
