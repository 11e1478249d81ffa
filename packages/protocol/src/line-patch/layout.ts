import { type PatchChange } from '../patch-batch.js';
import { type FaultList, type FaultPlace } from './faults.js';

/** A change with a known place in the file, and its index in the array. */
export interface PlacedChange {
  changeIndex: number;
  change: PatchChange;
}

type PlaceAt = (placed: PlacedChange) => FaultPlace;

/** The line by which changes are ordered [LINE-3]. */
const positionOf = (change: PatchChange): number =>
  change.operation === 'insert' ? change.afterLine : change.startLine;

const describePosition = (change: PatchChange): string =>
  change.operation === 'insert'
    ? `insert after line ${change.afterLine}`
    : `${change.operation} of lines ${change.startLine} to ${change.endLine}`;

/**
 * The order of changes in the file, top to bottom. An insert after k follows a range that starts at k, in any array
 * order; inserts at one line keep their array order.
 */
export function inFileOrder(changes: readonly PlacedChange[]): PlacedChange[] {
  const key = ({ change }: PlacedChange) => 2 * positionOf(change) + (change.operation === 'insert' ? 1 : 0);
  return [...changes].sort((a, b) => key(a) - key(b));
}

/** Reports ORDER for a change above its predecessor in the file. */
export function checkOrder(changes: readonly PlacedChange[], faults: FaultList, at: PlaceAt): void {
  let previous: PlacedChange | undefined;
  for (const placed of changes) {
    const before = previous;
    if (before !== undefined && positionOf(placed.change) < positionOf(before.change)) {
      faults.add(
        () => at(placed),
        'ORDER',
        () => {
          const these = `${describePosition(placed.change)} follows ${describePosition(before.change)}`;
          return (
            `Changes must be ordered top to bottom, but changes[${placed.changeIndex}] (${these} of ` +
            `changes[${before.changeIndex}]). Sort changes by startLine (insert: afterLine); do not renumber, ` +
            'all line numbers are those of the original file.'
          );
        },
      );
    }
    previous = placed;
  }
}

/** Reports OVERLAP at the later of two changes of the same lines; adjacent ones are valid. */
export function checkOverlap(ordered: readonly PlacedChange[], faults: FaultList, at: PlaceAt): void {
  let range: PlacedChange | undefined;
  let rangeEnd = 0;
  for (const placed of ordered) {
    const { change } = placed;
    const other = range;
    const inside = change.operation === 'insert' ? change.afterLine < rangeEnd : change.startLine <= rangeEnd;
    if (other !== undefined && inside) reportOverlap(other, placed, faults, at);
    if (change.operation !== 'insert' && change.endLine > rangeEnd) {
      range = placed;
      rangeEnd = change.endLine;
    }
  }
}

function reportOverlap(one: PlacedChange, two: PlacedChange, faults: FaultList, at: PlaceAt): void {
  const [first, later] = one.changeIndex < two.changeIndex ? [one, two] : [two, one];
  const mend =
    two.change.operation === 'insert'
      ? 'An insert may stand directly before or after a range, not inside it: put its lines into newLines of a ' +
        'replace of that range.'
      : 'Merge them into one change, or correct the line numbers.';
  faults.add(
    () => at(later),
    'OVERLAP',
    () =>
      `changes[${later.changeIndex}] (${describePosition(later.change)}) overlaps changes[${first.changeIndex}] ` +
      `(${describePosition(first.change)}). ${mend}`,
    () => ({ overlapsWith: first.changeIndex }),
  );
}

const BOM = '\uFEFF';

/**
 * Reports a new line 1 that starts with U+FEFF: at the top of a file that is a byte order mark, not text, and the
 * file's own mark is kept.
 */
export function checkFirstLine(ordered: readonly PlacedChange[], faults: FaultList, at: PlaceAt): void {
  let deletedTo = 0;
  for (const placed of ordered) {
    const { change } = placed;
    const reaches = change.operation === 'insert' ? change.afterLine : change.startLine - 1;
    if (reaches > deletedTo) return;
    if (change.operation === 'delete') {
      deletedTo = Math.max(deletedTo, change.endLine);
      continue;
    }
    if (!change.newLines[0]?.startsWith(BOM)) return;
    faults.add(
      () => at(placed),
      'NOT_TEXT',
      () =>
        'newLines[0] would be line 1 and starts with U+FEFF, a byte order mark. Remove that character; a mark ' +
        'that the file has is kept by itself and is not part of line 1.',
    );
    return;
  }
}

/** Whether every change replaces lines by equal lines, as far as can be known without the file. */
export function changesNothing(changes: readonly PatchChange[]): boolean {
  return changes.every(
    (change) =>
      change.operation === 'replace' &&
      change.newEndings === undefined &&
      change.newLines.length === change.expectedOriginalLines.length &&
      change.newLines.every((line, at) => line === change.expectedOriginalLines[at]),
  );
}
