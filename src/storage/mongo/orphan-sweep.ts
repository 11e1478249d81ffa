import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Blobs } from './blobs.js';
import { FolderSpellings } from './folder-spellings.js';
import { TurnTexts } from './turn-texts.js';

const SWEEP_MS = 10 * 60_000;
/** A turn is written right after its texts, a file soon after the spelling of its folders; an hour is far beyond that. */
const GRACE_MS = 60 * 60_000;
/** What is looked at with one question. */
const BATCH = 500;

/**
 * Removes what was written for something that did not come to be, as the server, or the database, ended between the two: texts
 * of turns, and parts of bytes; and where folders were.
 */
@Injectable()
export class OrphanSweep implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Storage');
  private timer: NodeJS.Timeout | null = null;
  /** Each round looks at some blobs, behind those of the round before. */
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
