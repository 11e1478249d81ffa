import { Injectable } from '@nestjs/common';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { PinoLogger } from '../common/pino-logger.js';
import { Clock } from '../common/clock.js';
import { Sweep } from '../common/sweep.js';
import { BlobStore } from '../storage/ports/blobs.store.js';

const SWEEP_MS = 10 * 60_000;
/** Age of bytes without a version before they are marked. */
const UNUSED_MS = 24 * 60 * 60_000;
/** How long they stay marked before removal: far longer than a write takes or clocks differ. */
const MARKED_MS = 60 * 60_000;
/** Blobs per write, since a write blocks the calls of every workspace. */
const BATCH = 50;

/** Removes bytes that no version refers to. */
@Injectable()
export class BlobSweep extends Sweep {
  constructor(
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
    logger: PinoLogger,
  ) {
    super(SWEEP_MS, logger);
  }

  protected async sweep(): Promise<void> {
    const now = this.clock.now();
    while (await this.blobs.removeMarked(now - MARKED_MS, BATCH)) await yieldIfBusy();
    while (await this.blobs.mark(now - UNUSED_MS, BATCH, now)) await yieldIfBusy();
  }
}
