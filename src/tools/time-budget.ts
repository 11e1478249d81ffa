import { setImmediate } from 'node:timers/promises';

/** Ends work that goes on for too long, and lets others run meanwhile. */
export class TimeBudget {
  private readonly end: number;
  private sliceEnd: number;

  constructor(
    totalMs: number,
    private readonly sliceMs = 20,
  ) {
    const now = performance.now();
    this.end = now + totalMs;
    this.sliceEnd = now + sliceMs;
  }

  /** False once the time is used up; after a slice of it, others have their turn first. */
  async left(): Promise<boolean> {
    const now = performance.now();
    if (now >= this.end) return false;
    if (now >= this.sliceEnd) {
      await setImmediate();
      this.sliceEnd = performance.now() + this.sliceMs;
    }
    return true;
  }
}
