import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { PinoLogger } from './pino-logger.js';

/** Work that is done again and again while the server runs. A failure is logged; the next round tries again. */
export abstract class Sweep implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | null = null;

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
    this.timer = setInterval(() => void this.round(), this.everyMs).unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
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
