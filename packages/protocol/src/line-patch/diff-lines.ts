import { equalEnd, equalTop } from './equal-lines.js';
import { lineIds } from './line-ids.js';
import { diffIds, type Hunk } from './myers.js';

/**
 * The lines that differ between two texts, top to bottom, never adjacent. A different ending counts as a difference,
 * and a byte order mark is text of line 1. Time and memory are linear for all inputs.
 */
export function diffLines(before: Uint8Array, after: Uint8Array): Hunk[] {
  const a = { bytes: before, from: 0, to: before.length };
  const b = { bytes: after, from: 0, to: after.length };
  // Two versions of a file are mostly equal, and equal lines at both ends need no numbers.
  const top = equalTop(a, b);
  a.from = b.from = top.bytes;
  const end = equalEnd(a, b);
  const ids = lineIds(
    before.subarray(top.bytes, before.length - end.bytes),
    after.subarray(top.bytes, after.length - end.bytes),
  );
  const hunks = diffIds(ids.before, ids.after);
  for (const hunk of hunks) {
    hunk.aStart += top.lines;
    hunk.aEnd += top.lines;
    hunk.bStart += top.lines;
    hunk.bEnd += top.lines;
  }
  return hunks;
}
