/* UTF-8 conversion with functions that exist in Node and in browsers. */

const encoder = new TextEncoder();
// Keeps a byte order mark, which is part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
