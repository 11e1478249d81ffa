import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { BlobStore } from '../storage/ports/blobs.store.js';

const SWEEP_MS = 10 * 60_000;
/** Bytes may lie this long before the version that refers to them is written. */
const GRACE_MS = 24 * 60 * 60_000;
const BATCH = 200;

/** Removes bytes that were stored for a version which then never came. */
@Injectable()
export class BlobSweep implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(BlobSweep.name);
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  private async sweep(): Promise<void> {
    try {
      await this.blobs.sweep(this.clock.now() - GRACE_MS, BATCH);
    } catch (error) {
      this.logger.error({ err: error }, 'Orphaned bytes could not be removed; the next sweep tries again');
    }
  }
}
