import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Blobs } from './blobs.js';
import { FolderSpellings } from './folder-spellings.js';
import { TurnTexts } from './turn-texts.js';

const SWEEP_MS = 10 * 60_000;
/** A turn is written right after its texts, a file soon after its folders' spellings; an hour is far longer. */
const GRACE_MS = 60 * 60_000;
/** Items per query. */
const BATCH = 500;

/** Removes what a crash left of interrupted writes: texts of turns, parts of blobs, and spellings of folders. */
@Injectable()
export class OrphanSweep implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Storage');
  private timer: NodeJS.Timeout | null = null;
  /** Each round continues after the last blob of the previous round. */
  private lastBlob = '';

  constructor(
    private readonly texts: TurnTexts,
    private readonly blobs: Blobs,
    private readonly folders: FolderSpellings,
  ) {}

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
      while (await this.folders.removeUnused(before, BATCH));
      this.lastBlob = (await this.blobs.removeOrphanParts(this.lastBlob, BATCH)) ?? '';
    } catch (error) {
      this.logger.error(
        { err: error },
        'Data left by crashes could not be removed; the next round tries again',
      );
    }
  }
}
