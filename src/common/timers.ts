/** setTimeout takes no more than this many ms, and would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer that keeps no process alive: at once where the time has passed, early where it is over 24 days away. */
export function longTimeout(work: () => void, waitMs: number): NodeJS.Timeout {
  return setTimeout(work, Math.min(Math.max(waitMs, 0), MAX_TIMER_MS)).unref();
}
