import { Injectable } from '@nestjs/common';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { PinoLogger } from '../common/pino-logger.js';
import { Clock } from '../common/clock.js';
import { Sweep } from '../common/sweep.js';
import { PatchStore } from '../storage/ports/patches.store.js';

const SWEEP_MS = 10 * 60_000;
/** A batch's turn is stored right after it, so an hour is ample. */
const GRACE_MS = 60 * 60_000;
/** Batches per write, since a write blocks the calls of every workspace. */
const BATCH = 20;

/** Removes batches whose turn was never stored because the server stopped between the two writes. */
@Injectable()
export class OrphanedBatchSweep extends Sweep {
  constructor(
    private readonly patches: PatchStore,
    private readonly clock: Clock,
    logger: PinoLogger,
  ) {
    super(SWEEP_MS, logger);
  }

  protected async sweep(): Promise<void> {
    const before = this.clock.now() - GRACE_MS;
    while (await this.patches.removeOrphans(before, BATCH)) await yieldIfBusy();
  }
}
