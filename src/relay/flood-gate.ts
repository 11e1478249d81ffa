/** Events that a client may send at once, and how many a second it may keep up. */
const BURST = 4_000;
const PER_SECOND = 1_000;

/** A token bucket for one socket: only what no working client does is a flood. */
export class FloodGate {
  private tokens = BURST;
  private at: number;

  constructor(private readonly now: () => number) {
    this.at = now();
  }

  /** Counts an event; false where the client floods. */
  pass(): boolean {
    const now = this.now();
    this.tokens = Math.min(BURST, this.tokens + ((now - this.at) / 1000) * PER_SECOND);
    this.at = now;
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
