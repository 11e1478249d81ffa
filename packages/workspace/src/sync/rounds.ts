/** Requests within this time in ms are combined, so that a checkout of a thousand files causes one scan. */
const COLLECT_MS = 120;
/** Scans take at most a fifth of the time, so that a constantly changing folder does not use up a core. */
const REST_FACTOR = 4;
/** Limits the pause after a round that took long because of its uploads. */
const MAX_REST_MS = 5_000;

/** Serializes the work on a folder and combines requests for the same round. */
export class Rounds {
  private tail: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private notBefore = 0;
  private requested: (() => Promise<void>) | null = null;
  private isRunning = false;
  private ended = false;

  /** @param onFault called for a failed round that nobody awaits */
  constructor(private readonly onFault: (error: unknown) => void) {}

  /** Runs the round soon. Further requests are combined until it starts; one during the round causes another. */
  request(round: () => Promise<void>): void {
    if (this.requested || this.ended) return;
    this.requested = round;
    if (!this.isRunning) this.schedule();
  }

  /** Runs the work after all earlier work. Errors are both reported and thrown. */
  enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.tail.then(() => {
      if (this.ended) throw new Error('The client is closing.');
      return work();
    });
    this.tail = done.catch((error: unknown) => {
      if (!this.ended) this.onFault(error);
    });
    return done;
  }

  /** Resolves when no work is running. No new work starts afterwards. */
  async end(): Promise<void> {
    this.ended = true;
    clearTimeout(this.timer);
    await this.tail;
  }

  private schedule(): void {
    const delay = Math.max(COLLECT_MS, this.notBefore - performance.now());
    this.timer = setTimeout(() => void this.enqueue(() => this.run()).catch(() => undefined), delay);
    this.timer.unref();
  }

  private async run(): Promise<void> {
    const round = this.requested!;
    this.requested = null;
    this.isRunning = true;
    const began = performance.now();
    try {
      await round();
    } finally {
      this.isRunning = false;
      this.notBefore = performance.now() + Math.min(MAX_REST_MS, REST_FACTOR * (performance.now() - began));
      if (this.requested && !this.ended) this.schedule();
    }
  }
}
