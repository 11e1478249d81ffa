import { runProgram } from './run-program.js';

/** As git sets it: exit if everything fits, keep colours, leave the output on screen. */
const LESS = 'FRX';

/** Shows a long text in $PAGER, or else less. False without a pager: the caller then prints the text. */
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
      // Exit code of a shell that does not find the command.
      if (code !== 127) return true;
    } catch {
      signal.throwIfAborted();
    }
  }
  return false;
}
