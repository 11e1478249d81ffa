import { Injectable } from '@nestjs/common';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { PinoLogger } from '../common/pino-logger.js';
import { Clock } from '../common/clock.js';
import { Sweep } from '../common/sweep.js';
import { BlobStore } from '../storage/ports/blobs.store.js';

const SWEEP_MS = 10 * 60_000;
/** Bytes may lie this long before the version that refers to them is written. */
const UNUSED_MS = 24 * 60 * 60_000;
/** And so long marked before they go: far beyond the time of a write, and of what clocks may differ by. */
const MARKED_MS = 60 * 60_000;
/** Blobs of one write: the calls of every workspace wait for it. */
const BATCH = 50;

/** Removes bytes that were stored for a version which then never came. */
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
