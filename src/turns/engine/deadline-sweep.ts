import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Clock } from '../../common/clock.js';
import { Sweep } from '../../common/sweep.js';
import { Config } from '../../config/config.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns } from './open-turns.js';

/** A clock is kept to the second or two: it is looked for more often than other changes. */
const OFTEN = 0.4;
const BATCH = 200;

/** Finds in the store the clocks that ran out and that no timer of this node knows. */
@Injectable()
export class DeadlineSweep extends Sweep {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly clock: Clock,
    { catchUpMs }: Config,
    logger: PinoLogger,
  ) {
    super(OFTEN * catchUpMs, logger);
  }

  protected async sweep(): Promise<void> {
    const due = await this.store.dueBefore(this.clock.now(), BATCH);
    await Promise.all(due.map((turn) => this.turns.submit(turn, { type: 'tick' })));
  }
}
