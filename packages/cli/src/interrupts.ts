import { EXIT } from './cli-error.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Ctrl-C ends the process with the documented exit code, unless a command handles it. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') > 1) return;
    process.stderr.write('\n');
    process.exit(EXIT.interrupted);
  });
}

/**
 * Calls `stop` at the first SIGINT or SIGTERM instead of ending the process; a second one ends it at once. Returns a
 * function that removes the handlers.
 */
export function onInterrupt(stop: (signal: NodeJS.Signals) => void): () => void {
  const kill = () => process.exit(EXIT.interrupted);
  const first = (signal: NodeJS.Signals) => {
    for (const each of SIGNALS) process.once(each, kill);
    stop(signal);
  };
  for (const signal of SIGNALS) process.once(signal, first);
  return () => {
    for (const signal of SIGNALS) process.off(signal, first).off(signal, kill);
  };
}

/** Runs `work` with a signal that is aborted by the first SIGINT or SIGTERM; `interrupted` then gives the result. */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  interrupted: () => T | Promise<T>,
): Promise<T> {
  const stopped = new AbortController();
  const end = onInterrupt(() => stopped.abort());
  try {
    return await work(stopped.signal);
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    return await interrupted();
  } finally {
    end();
  }
}
