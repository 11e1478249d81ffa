/** A timer, as `setTimeout` gives it here. */
export type Timer = ReturnType<typeof setTimeout>;

/** A timer that keeps no process alive; a page has none to keep. */
export function idleTimeout(work: () => void, ms: number): Timer {
  const timer = setTimeout(work, ms);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
