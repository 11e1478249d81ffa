import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Deliveries } from '../delivery/deliveries.js';
import type { Turn } from '../storage/ports/turn.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { ServerCalls } from './server-calls.js';

const BATCH = 200;

/** Takes over at the start what an earlier process left behind. */
@Injectable()
export class Recovery implements OnApplicationBootstrap {
  constructor(
    private readonly store: TurnStore,
    private readonly deliveries: Deliveries,
    private readonly serverCalls: ServerCalls,
  ) {}

  /**
   * After a restart nothing runs any more, and no client is connected: each that holds an unacknowledged call has the
   * grace to return.
   */
  async onApplicationBootstrap(): Promise<void> {
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
}
