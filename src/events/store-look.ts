import type { PinoLogger } from '../common/pino-logger.js';
import { Sweep } from '../common/sweep.js';
import type { Config } from '../config/config.js';
import type { Bus } from './bus.js';

/** A node that has waited for nothing for this long (ms) looks less often by the factor below. */
const IDLE_AFTER_MS = 30_000;
const IDLE_TIMES = 2;

/**
 * Polls the store for commits of other nodes: every `catchUpMs` with a connected bus, every `lookMs` without one. A
 * node that is alone polls as rarely as with a bus. It polls at once when the bus reconnects.
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
  /** Whether this node waits for something that another node may do. */
  protected abstract isWaiting(): boolean;

  protected async sweep(): Promise<void> {
    // Timers are inexact, so half a tick early counts as due.
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
    // After a failure it looks no more often than the slow interval, which also limits the log.
    if (this.bus.reach !== 'unlinked' || this.hasFailed) return this.seldomMs;
    const now = performance.now();
    if (this.isWaiting()) this.waitedAt = now;
    return now - this.waitedAt < IDLE_AFTER_MS ? this.tickMs : IDLE_TIMES * this.tickMs;
  }
}
