import { EXIT } from './cli-error.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Ctrl-C ends the process with the code that the help names, wherever no command sees to it itself. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') > 1) return;
    process.stderr.write('\n');
    process.exit(EXIT.interrupted);
  });
}

/**
 * Calls `stop` at the first SIGINT or SIGTERM in the place of ending the process, and does not wait at the second.
 * Returns what ends that.
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

/** Does `work` with a signal that the first SIGINT or SIGTERM aborts; `interrupted` then says what it ends with. */
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
