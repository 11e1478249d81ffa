import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { PinoLogger } from './pino-logger.js';

/** Work that is done again and again while the server runs. A failure is logged; the next round tries again. */
export abstract class Sweep implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | null = null;
  private isBusy = false;

  /** @param everyMs time between two rounds. */
  protected constructor(
    private readonly everyMs: number,
    protected readonly logger: PinoLogger,
  ) {
    logger.setContext(new.target.name);
  }

  /** One round. */
  protected abstract sweep(): Promise<void>;

  onApplicationBootstrap(): void | Promise<void> {
    this.timer = setInterval(() => void this.regularRound(), this.everyMs).unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** None is begun while the one before goes on. */
  private async regularRound(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    await this.round();
    this.isBusy = false;
  }

  /** A round between those that come by themselves; its failure is logged. */
  protected async round(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.logger.error({ err: error }, 'A sweep failed; the next one tries again');
    }
  }
}
