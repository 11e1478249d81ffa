import { type Ending } from '../patch-batch.js';
import { decode, isUtf8 } from './bytes.js';

export const LF = 0x0a;
export const CR = 0x0d;

/** Length of the byte order mark in bytes: 3 or 0. It is outside line 1 and is kept. */
export function bomLength(bytes: Uint8Array): 0 | 3 {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** Why bytes are not text that can be patched (NOT_TEXT), or null: strict UTF-8 without NUL is text. */
export function notTextReason(bytes: Uint8Array): string | null {
  const [a, b] = bytes;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return 'it is UTF-16';
  if (!isUtf8(bytes)) return 'it is not valid UTF-8';
  const nul = bytes.indexOf(0);
  return nul < 0 ? null : `it has a NUL byte at offset ${nul}`;
}

/** The ending that the line feed at `at` belongs to; `start` is the first byte after the mark. */
export function endingAt(bytes: Uint8Array, at: number, start: number): Ending {
  return at > start && bytes[at - 1] === CR ? '\r\n' : '\n';
}

/** A line: text without its ending, and the ending. */
export interface Line {
  text: string;
  ending: Ending;
}

/**
 * Splits text into lines [LINE-1]: only LF and CRLF end a line. A byte order mark is left out; an empty file has no
 * line. One string per line: for tests, display and diffs, not for patching.
 * @param start offset of line 1; by default after the byte order mark.
 */
export function splitLines(bytes: Uint8Array, start: number = bomLength(bytes)): Line[] {
  const lines: Line[] = [];
  for (let from = start; from < bytes.length;) {
    const at = bytes.indexOf(LF, from);
    if (at < 0) {
      lines.push({ text: decode(bytes, from), ending: '' });
      break;
    }
    const ending = endingAt(bytes, at, from);
    lines.push({ text: decode(bytes, from, at + 1 - ending.length), ending });
    from = at + 1;
  }
  return lines;
}
