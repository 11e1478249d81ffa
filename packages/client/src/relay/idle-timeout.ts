/** The type that `setTimeout` returns on this platform. */
export type Timer = ReturnType<typeof setTimeout>;

/** A timer that does not keep a process alive; a page has no such need. */
export function idleTimeout(work: () => void, ms: number): Timer {
  const timer = setTimeout(work, ms);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
