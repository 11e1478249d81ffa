import { setImmediate } from 'node:timers/promises';

/** Longest that work in steps goes on before others have their turn, in ms. */
const SLICE_MS = 5;

/** Lets the event loop go round once where the work since the last time has taken long: call it between two steps. */
export function breather(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
