import type { FilePatch, PatchChange } from '@patchbay/protocol';
import { diffToChanges, splitLines } from '@patchbay/protocol/line-patch';

/** The changes of a file after the user's edit. */
export interface EditedChanges {
  /** All proposed changes in their order, with their ids; undone ones are as proposed. */
  changes: PatchChange[];
  /** changeIds of undone changes: their lines are the original ones. */
  undone: string[];
}

/** Original lines `from` (zero-based) to `to` (exclusive) become `lines`. */
interface Hunk {
  from: number;
  to: number;
  lines: string[];
}

/** A range of original lines. */
type LineRange = Pick<Hunk, 'from' | 'to'>;

/**
 * Expresses an edited text as the changes of the patch [PATCH-6]. Each edited line belongs to the nearest change. Line
 * endings are ignored; the rules for new lines define them.
 * @throws Error for a text that changes cannot express
 */
export function editChanges(original: string, patch: FilePatch, edited: string): EditedChanges {
  const before = linesOf(original);
  const hunks = hunksBetween(before, linesOf(edited));
  const inFile = patch.changes.map((change) => ({ change, ...rangeOf(change) }));
  inFile.sort((a, b) => a.from - b.from || a.to - b.to);
  const bounds = inFile.slice(1).map(({ from }, at) => boundary({ from: inFile[at]!.to, to: from }, hunks));
  const undone: string[] = [];
  const byId = new Map<string | undefined, PatchChange>();
  for (const [at, { change, from }] of inFile.entries()) {
    const own = takeHunksBefore(hunks, at === bounds.length ? Infinity : bounds[at]!, inFile[at + 1], from);
    if (own.length === 0) undone.push(change.changeId!);
    byId.set(change.changeId, own.length === 0 ? change : changed(change, before, own));
  }
  return { changes: patch.changes.map(({ changeId }) => byId.get(changeId)!), undone };
}

/** The lines without endings and byte order mark. */
function linesOf(text: string): string[] {
  return splitLines(Buffer.from(text)).map((line) => line.text);
}

function hunksBetween(before: readonly string[], after: readonly string[]): Hunk[] {
  const bytesOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const diffed = diffToChanges(bytesOf(before), bytesOf(after));
  if (!diffed.ok) throw new Error(`The edit cannot be a patch: ${diffed.reason}.`);
  let shift = 0;
  return diffed.changes.map((change) => {
    const { from, to } = rangeOf(change);
    const added = change.operation === 'delete' ? 0 : change.newLines.length;
    // The diff treats a trailing carriage return as part of the ending, so the lines come from the text itself.
    const lines = after.slice(from + shift, from + shift + added);
    shift += added - (to - from);
    return { from, to, lines };
  });
}

function rangeOf(change: PatchChange): LineRange {
  return change.operation === 'insert'
    ? { from: change.afterLine, to: change.afterLine }
    : { from: change.startLine - 1, to: change.endLine };
}

/** The line in the gap between two changes that separates their edits; outside of all hunks if possible. */
function boundary(gap: LineRange, hunks: readonly Hunk[]): number {
  const middle = (gap.from + gap.to) / 2;
  const clean = [middle, gap.from, gap.to, ...hunks.flatMap(({ from, to }) => [from, to])]
    .map(Math.floor)
    .filter((line) => line >= gap.from && line <= gap.to)
    .filter((line) => !hunks.some(({ from, to }) => from < line && line < to));
  const byDistance = clean.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return byDistance[0] ?? gap.to;
}

/** Removes the hunks before a line from the list. A hunk across the line is split, which has the same effect. */
function takeHunksBefore(hunks: Hunk[], line: number, next: LineRange | undefined, ownFrom: number): Hunk[] {
  const taken: Hunk[] = [];
  for (let hunk = hunks[0]; hunk !== undefined; hunk = hunks[0]) {
    const { from, to, lines } = hunk;
    const isInsertHere = from === line && to === line;
    // An insertion right before the next change belongs to that one, unless only this one can express it.
    const isNext = isInsertHere && next !== undefined && next.from === line && ownFrom !== line;
    if (from > line || (from === line && (!isInsertHere || isNext))) break;
    hunks.shift();
    if (to <= line) taken.push(hunk);
    else {
      const cut = Math.round((lines.length * (line - from)) / (to - from));
      taken.push({ from, to: line, lines: lines.slice(0, cut) });
      hunks.unshift({ from: line, to, lines: lines.slice(cut) });
      break;
    }
  }
  return taken;
}

/** Combines hunks into one change; lines between them are unchanged. */
function changed(proposed: PatchChange, before: readonly string[], hunks: readonly Hunk[]): PatchChange {
  const { changeId, changeKey, description } = proposed;
  const common = { ...(changeId !== undefined && { changeId }), changeKey, description };
  const { from } = hunks[0]!;
  const { to } = hunks.at(-1)!;
  const newLines: string[] = [];
  let at = from;
  for (const hunk of hunks) {
    newLines.push(...before.slice(at, hunk.from), ...hunk.lines);
    at = hunk.to;
  }
  if (from === to) return { ...common, operation: 'insert', afterLine: from, newLines };
  const range = { startLine: from + 1, endLine: to, expectedOriginalLines: before.slice(from, to) };
  if (newLines.length === 0) return { ...common, operation: 'delete', ...range };
  return { ...common, operation: 'replace', ...range, newLines };
}
