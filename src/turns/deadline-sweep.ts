import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { Sweep } from '../common/sweep.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { OpenTurns } from './open-turns.js';

const SWEEP_MS = 2_000;
const BATCH = 200;

/** Finds in the store the clocks that ran out and that no timer of this node knows. */
@Injectable()
export class DeadlineSweep extends Sweep {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly clock: Clock,
    logger: PinoLogger,
  ) {
    super(SWEEP_MS, logger);
  }

  protected async sweep(): Promise<void> {
    const due = await this.store.dueBefore(this.clock.now(), BATCH);
    await Promise.all(due.map((turn) => this.turns.submit(turn, { type: 'tick' })));
  }
}
