/** An escaped half of a surrogate pair, which UTF-8 cannot hold; other escapes match too, so that they are skipped. */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * A part of a text, between two UTF-16 offsets. Half of a surrogate pair at either end is dropped, and a lone half
 * inside becomes U+FFFD, so that the result is well formed.
 */
export function textBetween(text: string, from: number, to: number): string {
  const start = from > 0 && isLowHalf(text, from) ? from + 1 : from;
  const end = to < text.length && isHighHalf(text, to - 1) ? to - 1 : to;
  return text.slice(start, Math.max(start, end)).toWellFormed();
}

/** The beginning of a text, at most `most` UTF-16 units. */
export function cutText(text: string, most: number): string {
  return textBetween(text, 0, most);
}

/** As `cutText`, with an ellipsis if something was cut. */
export function shortText(text: string, most: number): string {
  return text.length > most ? `${cutText(text, most)}…` : text.toWellFormed();
}

/** A JSON value with well-formed text only; returns the value itself if it has no lone surrogate. */
export function wellFormedJson<T>(value: T): T {
  return isWellFormedJson(value) ? value : (mended(value) as T);
}

/** Whether all strings and names in a JSON value are without lone surrogates. */
export function isWellFormedJson(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormedJson);
  for (const [name, item] of Object.entries(value)) {
    if (!name.isWellFormed() || !isWellFormedJson(item)) return false;
  }
  return true;
}

/** JSON.stringify for strict readers: lone surrogates become U+FFFD. */
export function strictJson(value: unknown): string {
  return withoutHalves(JSON.stringify(value));
}

/** Replaces lone surrogates in the output of JSON.stringify. */
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
