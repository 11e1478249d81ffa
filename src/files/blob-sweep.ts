import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { Sweep } from '../common/sweep.js';
import { BlobStore } from '../storage/ports/blobs.store.js';

const SWEEP_MS = 10 * 60_000;
/** Bytes may lie this long before the version that refers to them is written. */
const GRACE_MS = 24 * 60 * 60_000;
const BATCH = 200;

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
    await this.blobs.sweep(this.clock.now() - GRACE_MS, BATCH);
  }
}
