/** Time that long work, all of it together, may hold the event loop for before all else has its turn, in ms. */
const SLICE_MS = 10;

/** When the slice of this turn of the event loop is over; null: none has begun. */
let end: number | null = null;
let isGranting = false;
const waiting: (() => void)[] = [];

/**
 * To be awaited between the steps of long work: resolves while there is time in this turn of the event loop, else in a
 * later one. One slice is for all who do so, one after the other: a hundred such works at once hold the loop no longer
 * than one.
 */
export function timeSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!isGranting) grant();
  });
}

/** Lets the next one go on if there is time; then, when that has done a step, the one behind it. */
function grant(): void {
  end ??= begin();
  isGranting = performance.now() < end && waiting.length > 0;
  if (!isGranting) return;
  waiting.shift()!();
  queueMicrotask(grant);
}

function begin(): number {
  setImmediate(() => {
    end = null;
    if (waiting.length > 0) grant();
  });
  return performance.now() + SLICE_MS;
}
