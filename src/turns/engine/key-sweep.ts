import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Clock } from '../../common/clock.js';
import { Sweep } from '../../common/sweep.js';
import { IdempotencyKeyStore } from '../../storage/records/idempotency-keys.js';

/** How long an Idempotency-Key is kept, ms [TURN-3]. */
export const KEY_LIFE_MS = 24 * 60 * 60_000;
const SWEEP_MS = 60 * 60_000;

/** Deletes expired Idempotency-Keys. */
@Injectable()
export class KeySweep extends Sweep {
  constructor(
    private readonly keys: IdempotencyKeyStore,
    private readonly clock: Clock,
    logger: PinoLogger,
  ) {
    super(SWEEP_MS, logger);
  }

  protected sweep(): Promise<void> {
    return this.keys.removeExpired(this.clock.now() - KEY_LIFE_MS);
  }
}
