import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Clock } from '../../common/clock.js';
import { Sweep } from '../../common/sweep.js';
import { Config } from '../../config/config.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns } from './open-turns.js';

/** Deadlines should be exact to 1–2 s, so this sweep runs more often than others. */
const INTERVAL_FACTOR = 0.4;
const BATCH = 200;

/** Finds expired deadlines in the store for which no timer of this node exists. */
@Injectable()
export class DeadlineSweep extends Sweep {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly clock: Clock,
    { catchUpMs }: Config,
    logger: PinoLogger,
  ) {
    super(INTERVAL_FACTOR * catchUpMs, logger);
  }

  protected async sweep(): Promise<void> {
    const due = await this.store.dueBefore(this.clock.now(), BATCH);
    await Promise.all(due.map((turn) => this.turns.submit(turn, { type: 'tick' })));
  }
}
