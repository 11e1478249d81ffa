/* Texts and their bytes by what Node and a page both have. */

const encoder = new TextEncoder();
// A byte order mark is part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
