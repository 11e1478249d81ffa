/** The few signs of the screen that are no ASCII, each with what stands for it where there are none. */
export interface Marks {
  done: string;
  refused: string;
  running: string;
  minus: string;
  /** Behind what is cut off. */
  more: string;
}

const SIGNS: Marks = { done: '✓', refused: '✗', running: '…', minus: '−', more: '…' };
export const ASCII: Marks = { done: 'ok', refused: 'x', running: '...', minus: '-', more: '...' };

/** Signs for a person at a terminal whose locale has them; ASCII for everybody else, a file or a program too. */
export function marksFor(stream: NodeJS.WritableStream, env: NodeJS.ProcessEnv): Marks {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const hasSigns = process.platform === 'win32' || /utf-?8/i.test(locale);
  return isTerminal && hasSigns && env.TERM !== 'dumb' ? SIGNS : ASCII;
}
