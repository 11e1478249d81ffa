import { loopTurn } from './loop-turn.js';

/** Time that long work, all of it together, may hold the event loop for before all else has its turn, in ms. */
const SLICE_MS = 10;

/** The turn of the event loop that the slice is of, and when the slice is over. */
let turn = -1;
let end = 0;
let isGranting = false;
let isWaitingForTurn = false;
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
  isGranting = waiting.length > 0 && hasTime();
  if (isGranting) {
    waiting.shift()!();
    queueMicrotask(grant);
  } else if (waiting.length > 0 && !isWaitingForTurn) {
    isWaitingForTurn = true;
    setImmediate(() => {
      isWaitingForTurn = false;
      if (!isGranting) grant();
    });
  }
}

/** Which turn it is is asked only once the time of the last slice is over: work that is short needs no turn of its own. */
function hasTime(): boolean {
  const now = performance.now();
  if (now < end) return true;
  const current = loopTurn();
  if (current === turn) return false;
  turn = current;
  end = now + SLICE_MS;
  return true;
}
