import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { TurnTexts } from './turn-texts.js';

const SWEEP_MS = 10 * 60_000;
/** A turn is written right after its texts; an hour is far beyond that. */
const GRACE_MS = 60 * 60_000;
/** Pieces that are looked at with one question. */
const BATCH = 500;

/** Removes texts of turns whose write never came: the server, or the database, ended between the two. */
@Injectable()
export class TurnTextSweep implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Storage');
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly texts: TurnTexts) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.round(), SWEEP_MS).unref();
  }

  onModuleDestroy(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  private async round(): Promise<void> {
    const before = Date.now() - GRACE_MS;
    try {
      while (await this.texts.removeOrphans(before, BATCH));
    } catch (error) {
      this.logger.error({ err: error }, 'The texts of turns could not be swept; the next round tries again');
    }
  }
}
