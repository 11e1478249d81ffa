/** Half of a surrogate pair, which UTF-8 cannot hold, as JSON.stringify escapes it; any other escape is passed over. */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * A part of a text, from one UTF-16 unit to before another. Half of a surrogate pair at either end is left out, and a
 * half that was in the text becomes U+FFFD, so that the part is text for everybody.
 */
export function textBetween(text: string, from: number, to: number): string {
  const start = from > 0 && isLowHalf(text, from) ? from + 1 : from;
  const end = to < text.length && isHighHalf(text, to - 1) ? to - 1 : to;
  return text.slice(start, Math.max(start, end)).toWellFormed();
}

/** The beginning of a text, of at most so many UTF-16 units. */
export function cutText(text: string, most: number): string {
  return textBetween(text, 0, most);
}

/** The same, with an ellipsis behind it where something is left out. */
export function shortText(text: string, most: number): string {
  return text.length > most ? `${cutText(text, most)}…` : text.toWellFormed();
}

/** A JSON value in which no text has half of a surrogate pair; the value itself where none has. */
export function wellFormedJson<T>(value: T): T {
  return isWellFormedJson(value) ? value : (mended(value) as T);
}

/** Whether no text in a JSON value, and no name, has half of a surrogate pair. */
export function isWellFormedJson(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormedJson);
  for (const [name, item] of Object.entries(value)) {
    if (!name.isWellFormed() || !isWellFormedJson(item)) return false;
  }
  return true;
}

/** JSON.stringify for readers that refuse a text with half of a surrogate pair: U+FFFD stands in its place. */
export function strictJson(value: unknown): string {
  return withoutHalves(JSON.stringify(value));
}

/** What JSON.stringify has written, without halves of surrogate pairs. */
export function withoutHalves(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(ESCAPES, (escape, half?: string) => (half === undefined ? escape : '\ufffd'));
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(mended);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name.toWellFormed(), mended(item)]));
}

function isHighHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
