import { LF } from './text.js';

/** Bytes from..to of a text, which are whole lines. */
export interface Stretch {
  bytes: Uint8Array;
  from: number;
  to: number;
}

/** A number of whole lines, and of their bytes. */
export interface Extent {
  bytes: number;
  lines: number;
}

/** The equal lines at the top of two texts. */
export function equalTop(a: Stretch, b: Stretch): Extent {
  const [aLength, bLength] = [a.to - a.from, b.to - b.from];
  const most = Math.min(aLength, bLength);
  const equal: Extent = { bytes: 0, lines: 0 };
  for (let at = 0; at < most; at += 1) {
    const byte = a.bytes[a.from + at];
    if (byte !== b.bytes[b.from + at]) return equal;
    if (byte !== LF) continue;
    equal.bytes = at + 1;
    equal.lines += 1;
  }
  // The rest is a last line without ending of one text, or of both.
  if (aLength === bLength && equal.bytes < most) return { bytes: most, lines: equal.lines + 1 };
  return equal;
}

/** The equal lines at the end of two texts. */
export function equalEnd(a: Stretch, b: Stretch): Extent {
  const most = Math.min(a.to - a.from, b.to - b.from);
  const equal: Extent = { bytes: 0, lines: 0 };
  for (let length = 1; length <= most; length += 1) {
    if (a.bytes[a.to - length] !== b.bytes[b.to - length]) return equal;
    if (!beginsLine(a, a.to - length) || !beginsLine(b, b.to - length)) continue;
    equal.bytes = length;
    equal.lines += 1;
  }
  return equal;
}

const beginsLine = ({ bytes, from }: Stretch, at: number): boolean => at === from || bytes[at - 1] === LF;
