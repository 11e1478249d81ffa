import { type Kind, KINDS } from './records.js';

const EVERY_MS = 100;

/** Receives the number of records of a kind that are done. */
export type ReportProgress = (
  step: 'exported' | 'imported' | 'verified',
  kind: Kind,
  done: number,
  isAll?: boolean,
) => void;

/** Prints a line per finished kind; at a terminal it counts up in place meanwhile. */
export function progressOn(out: NodeJS.WriteStream): ReportProgress {
  let drawnAt = 0;
  return (step, kind, done, isAll = false) => {
    if (!isAll && (!out.isTTY || Date.now() - drawnAt < EVERY_MS)) return;
    drawnAt = Date.now();
    out.write(`${out.isTTY ? '\r\x1b[K' : ''}${step} ${done} ${KINDS[kind]}${isAll ? '\n' : ''}`);
  };
}
