import { type Kind, KINDS } from './records.js';

const EVERY_MS = 100;

/** Told how many records of a kind are done so far. */
export type Tell = (
  step: 'exported' | 'imported' | 'verified',
  kind: Kind,
  done: number,
  isAll?: boolean,
) => void;

/** A line for each kind that is done; at a terminal it counts up meanwhile, drawn over itself. */
export function progressOn(out: NodeJS.WriteStream): Tell {
  let drawnAt = 0;
  return (step, kind, done, isAll = false) => {
    if (!isAll && (!out.isTTY || Date.now() - drawnAt < EVERY_MS)) return;
    drawnAt = Date.now();
    out.write(`${out.isTTY ? '\r\x1b[K' : ''}${step} ${done} ${KINDS[kind]}${isAll ? '\n' : ''}`);
  };
}
