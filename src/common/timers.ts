/** setTimeout fires at once for a longer delay, ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer that does not keep the process alive: immediate if the time has passed, early beyond 24 days. */
export function longTimeout(work: () => void, waitMs: number): NodeJS.Timeout {
  return setTimeout(work, Math.min(Math.max(waitMs, 0), MAX_TIMER_MS)).unref();
}
