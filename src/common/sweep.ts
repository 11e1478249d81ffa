import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { PinoLogger } from './pino-logger.js';

/** Periodic work while the server runs. A failure is logged; the next round tries again. */
export abstract class Sweep implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | null = null;
  private isBusy = false;

  /** @param everyMs interval between rounds. */
  protected constructor(
    private readonly everyMs: number,
    protected readonly logger: PinoLogger,
  ) {
    logger.setContext(new.target.name);
  }

  protected abstract sweep(): Promise<void>;

  onApplicationBootstrap(): void | Promise<void> {
    this.timer = setInterval(() => void this.regularRound(), this.everyMs).unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** Skips the round while the previous one still runs. */
  private async regularRound(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    await this.round();
    this.isBusy = false;
  }

  /** Runs an additional round; its failure is logged. */
  protected async round(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.logger.error({ err: error }, 'A sweep failed; the next one tries again');
    }
  }
}
