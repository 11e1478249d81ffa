import { SystemClock } from '../../src/common/clock.js';

/** The time, ahead of the machine's by as much as a test wants. */
export class ShiftedClock extends SystemClock {
  aheadMs = 0;

  override now(): number {
    return super.now() + this.aheadMs;
  }

  override elapsed(): number {
    return super.elapsed() + this.aheadMs;
  }

  pass(ms: number): void {
    this.aheadMs += ms;
  }
}
