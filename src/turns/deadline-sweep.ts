import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { Sweep } from '../common/sweep.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { Deliveries } from './deliveries.js';
import { OpenTurns } from './open-turns.js';
import { ServerCalls } from './server-calls.js';
import type { Turn } from './turn.js';

const SWEEP_MS = 2_000;
const BATCH = 200;

/** Finds in the store what no timer of this node knows: clocks that ran out, and what an earlier process left behind. */
@Injectable()
export class DeadlineSweep extends Sweep {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly deliveries: Deliveries,
    private readonly serverCalls: ServerCalls,
    private readonly clock: Clock,
    logger: PinoLogger,
  ) {
    super(SWEEP_MS, logger);
  }

  override async onApplicationBootstrap(): Promise<void> {
    await this.recover();
    await super.onApplicationBootstrap();
  }

  /**
   * After a restart nothing runs any more, and no client is connected: each that holds an unacknowledged call has the
   * grace to return.
   */
  private async recover(): Promise<void> {
    let page: Turn[] = [];
    do {
      page = await this.store.openAfter(page.at(-1) ?? null, BATCH);
      for (const turn of page) {
        await this.serverCalls.endInterrupted(turn);
        const holders = turn.calls.flatMap(({ status, clientId }) =>
          status === 'forwarded' && clientId ? [clientId] : [],
        );
        for (const clientId of new Set(holders)) await this.deliveries.startGrace(turn, clientId);
      }
    } while (page.length === BATCH);
  }

  protected async sweep(): Promise<void> {
    const due = await this.store.dueBefore(this.clock.now(), BATCH);
    await Promise.all(due.map((turn) => this.turns.submit(turn, { type: 'tick' })));
  }
}
