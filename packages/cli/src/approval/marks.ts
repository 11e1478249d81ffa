/** The non-ASCII signs of the screen and their ASCII replacements. */
export interface Marks {
  done: string;
  refused: string;
  running: string;
  minus: string;
  /** Marks cut text. */
  more: string;
}

const SIGNS: Marks = { done: '✓', refused: '✗', running: '…', minus: '−', more: '…' };
export const ASCII: Marks = { done: 'ok', refused: 'x', running: '...', minus: '-', more: '...' };

/** Unicode signs for a terminal whose locale has them; ASCII for other terminals, files and programs. */
export function marksFor(stream: NodeJS.WritableStream, env: NodeJS.ProcessEnv): Marks {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const hasSigns = process.platform === 'win32' || /utf-?8/i.test(locale);
  return isTerminal && hasSigns && env.TERM !== 'dumb' ? SIGNS : ASCII;
}
