import { Clock } from '../../src/common/clock.js';

/** The time, ahead of the machine's by as much as a test wants. */
export class ShiftedClock extends Clock {
  aheadMs = 0;

  now(): number {
    return Date.now() + this.aheadMs;
  }

  pass(ms: number): void {
    this.aheadMs += ms;
  }
}
