/* Converts between text and bytes, in Node and in browsers. */
import { nodeModule } from '../node-modules.js';

/** New texts of up to half of this size share a buffer: a patch may have a million of them. */
const SLAB_BYTES = 65_536;
/** Limit of UTF-8 bytes per UTF-16 unit. */
const BYTES_PER_UNIT = 3;
const DECODED_AT_ONCE = 65_536;

const encoder = new TextEncoder();
// A byte order mark is text here; readers of lines skip it by its offset.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

let slab = new Uint8Array(0);
let used = 0;

/** A text as UTF-8; the result must not be modified. */
export function encode(text: string): Uint8Array {
  const most = text.length * BYTES_PER_UNIT;
  if (most > SLAB_BYTES / 2) return encoder.encode(text);
  if (slab.length - used < most) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  const { written } = encoder.encodeInto(text, slab.subarray(used, used + most));
  used += written;
  return slab.subarray(used - written, used);
}

/** The text of the bytes from..to. */
export function decode(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return decoder.decode(bytes.subarray(from, to));
}

/** Whether the bytes are strict UTF-8. */
export const isUtf8: (bytes: Uint8Array) => boolean =
  nodeModule<{ isUtf8: (bytes: Uint8Array) => boolean }>('node:buffer')?.isUtf8 ?? decodesAsUtf8;

/** The same for browsers. */
export function decodesAsUtf8(bytes: Uint8Array): boolean {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    // In parts, so that the whole text is never one string.
    for (let at = 0; at < bytes.length; at += DECODED_AT_ONCE)
      strict.decode(bytes.subarray(at, at + DECODED_AT_ONCE), { stream: true });
    strict.decode();
    return true;
  } catch {
    return false;
  }
}

/** Whether `bytes` has `part` at offset `at`. */
export function standsAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  if (at + part.length > bytes.length) return false;
  for (let index = 0; index < part.length; index += 1) if (bytes[at + index] !== part[index]) return false;
  return true;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && standsAt(a, 0, b);
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
