import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from './domain-error.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Retries work that must be recorded until it succeeds, with growing pauses. A DomainError ends it; so does the stop
 * of the server, with undefined.
 * @param onFault is called for every failed attempt.
 */
export async function persist<T>(
  work: () => Promise<T>,
  stopping: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<T | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; !stopping.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DomainError && error.code !== 'UNAVAILABLE') throw error;
      onFault(error);
    }
    await pause(pauseMs, undefined, { signal: stopping, ref: false }).catch(() => undefined);
  }
  return undefined;
}
