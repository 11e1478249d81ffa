import type { Tell } from './move.js';
import { KINDS } from './records.js';

const WIDTH = 24;
const EVERY_MS = 100;

/** At a terminal a bar that is drawn over itself; elsewhere a line for each kind that is done. */
export function progressOn(out: NodeJS.WriteStream): Tell {
  let drawnAt = 0;
  return (step, kind, done, of) => {
    const isDone = done === of;
    const text = `${step} ${done} of ${of} ${KINDS[kind]}`;
    if (!out.isTTY) {
      if (isDone) out.write(`${text}\n`);
      return;
    }
    if (!isDone && Date.now() - drawnAt < EVERY_MS) return;
    drawnAt = Date.now();
    const full = of === 0 ? WIDTH : Math.round((done / of) * WIDTH);
    out.write(`\r\x1b[K[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${text}${isDone ? '\n' : ''}`);
  };
}
