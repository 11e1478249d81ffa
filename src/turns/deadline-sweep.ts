import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { Deliveries } from './deliveries.js';
import { OpenTurns } from './open-turns.js';
import { ServerCalls } from './server-calls.js';
import type { Turn } from './turn.js';

const SWEEP_MS = 2_000;
const BATCH = 200;

/** Finds in the store what no timer of this node knows: clocks that ran out, and what an earlier process left behind. */
@Injectable()
export class DeadlineSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly deliveries: Deliveries,
    private readonly serverCalls: ServerCalls,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(DeadlineSweep.name);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.recover();
    this.timer = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  onApplicationShutdown(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** After a restart nothing runs any more, and no client is connected: each that holds an unacknowledged call has the grace to return. */
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

  private async sweep(): Promise<void> {
    try {
      const due = await this.store.dueBefore(this.clock.now(), BATCH);
      await Promise.all(due.map((turn) => this.turns.submit(turn, { type: 'tick' })));
    } catch (error) {
      this.logger.error({ err: error }, 'The sweep failed; it runs again in a moment');
    }
  }
}
