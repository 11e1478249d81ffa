import type { PinoLogger } from '../common/pino-logger.js';
import { Sweep } from '../common/sweep.js';
import type { Config } from '../config/config.js';
import type { Bus } from './bus.js';

/** A node that has waited for nothing for so long (ms), although something may come, looks so many times less often. */
const IDLE_AFTER_MS = 30_000;
const IDLE_TIMES = 2;

/**
 * Looks in the store for what other nodes have done: every `catchUpMs` where the bus tells of it, every `lookMs` where it
 * does not, at once where it begins to, and on a node that is alone as seldom as with a bus.
 */
export abstract class StoreLook extends Sweep {
  private readonly tickMs: number;
  private readonly seldomMs: number;
  /** When the last look began (ms of the process). */
  private lookedAt = Number.NEGATIVE_INFINITY;
  /** When this node last waited for others (ms of the process). */
  private waitedAt = Number.NEGATIVE_INFINITY;
  private isLooking = false;
  private hasFailed = false;

  protected constructor(
    protected readonly bus: Bus,
    { catchUpMs, lookMs }: Pick<Config, 'catchUpMs' | 'lookMs'>,
    logger: PinoLogger,
  ) {
    const tickMs = bus.reach === 'alone' ? catchUpMs : Math.min(lookMs, catchUpMs);
    super(tickMs, logger);
    this.tickMs = tickMs;
    this.seldomMs = catchUpMs;
    bus.caughtUp$.subscribe(() => {
      this.lookedAt = Number.NEGATIVE_INFINITY;
      void this.round();
    });
  }

  protected abstract look(): Promise<void>;
  /** Whether this node waits for something that another may do. */
  protected abstract isWaiting(): boolean;

  protected async sweep(): Promise<void> {
    // Half a tick early is on time: timers are not exact.
    const isDue = performance.now() - this.lookedAt > this.pauseMs() - this.tickMs / 2;
    if (this.isLooking || !isDue) return;
    this.isLooking = true;
    this.lookedAt = performance.now();
    this.hasFailed = true;
    try {
      await this.look();
      this.hasFailed = false;
    } finally {
      this.isLooking = false;
    }
  }

  private pauseMs(): number {
    // A store that fails is not asked, and its failure not logged, more often than it ever was.
    if (this.bus.reach !== 'unlinked' || this.hasFailed) return this.seldomMs;
    const now = performance.now();
    if (this.isWaiting()) this.waitedAt = now;
    return now - this.waitedAt < IDLE_AFTER_MS ? this.tickMs : IDLE_TIMES * this.tickMs;
  }
}
