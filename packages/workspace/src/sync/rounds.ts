/** Gathers what is asked for in so many ms, so that a checkout of a thousand files is one look. */
const GATHER_MS = 120;
/** A look takes at most this share of the time, so that a folder that changes all the time does not fill a core. */
const REST_FACTOR = 4;
/** What takes long is the sending, not the look. */
const MAX_REST_MS = 5_000;

/** Does one thing at a time with a folder: what is asked for again before it has begun is done once. */
export class Rounds {
  private tail: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private notBefore = 0;
  private asked: (() => Promise<void>) | null = null;
  private isRunning = false;
  private ended = false;

  /** @param onFault told of what failed in a round that nobody waits for */
  constructor(private readonly onFault: (error: unknown) => void) {}

  /** Does the round soon, once for however many requests. One that comes while it runs asks for another. */
  request(round: () => Promise<void>): void {
    if (this.asked || this.ended) return;
    this.asked = round;
    if (!this.isRunning) this.schedule();
  }

  /** Does the work when all before it has ended; what it throws is told, and thrown. */
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

  /** Resolves when nothing is under way any more; nothing is begun from here on. */
  async end(): Promise<void> {
    this.ended = true;
    clearTimeout(this.timer);
    await this.tail;
  }

  private schedule(): void {
    const delay = Math.max(GATHER_MS, this.notBefore - performance.now());
    this.timer = setTimeout(() => void this.enqueue(() => this.run()).catch(() => undefined), delay);
    this.timer.unref();
  }

  private async run(): Promise<void> {
    const round = this.asked!;
    this.asked = null;
    this.isRunning = true;
    const began = performance.now();
    try {
      await round();
    } finally {
      this.isRunning = false;
      this.notBefore = performance.now() + Math.min(MAX_REST_MS, REST_FACTOR * (performance.now() - began));
      if (this.asked && !this.ended) this.schedule();
    }
  }
}
