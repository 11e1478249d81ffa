import { runProgram } from './run-program.js';

/** As git sets it: nothing to leave where all fits, colours, and what was shown stays. */
const LESS = 'FRX';

/**
 * Shows a long text by $PAGER, else less. False where there is no pager to use: then it is to be printed.
 */
export async function showInPager(
  text: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<boolean> {
  const named = env.PAGER;
  if (env.TERM === 'dumb' || named === '' || named === 'cat') return false;
  const withLess = { ...env, LESS: env.LESS ?? LESS };
  for (const command of new Set([named ?? 'less', 'less'])) {
    try {
      const code = await runProgram({ command, text, signal, env: withLess });
      // A shell says that there is no such command.
      if (code !== 127) return true;
    } catch {
      signal.throwIfAborted();
    }
  }
  return false;
}
