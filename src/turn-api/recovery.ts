import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { NodeId } from '../storage/ports/node-id.js';
import type { Turn } from '../storage/ports/turn.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { OpenTurns } from '../turns/open-turns.js';

const BATCH = 200;

/** Ends at the start the server calls that an earlier process of this node left behind, and no other node's. */
@Injectable()
export class Recovery implements OnApplicationBootstrap {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly node: NodeId,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const node = this.node.value;
    let page: Turn[] = [];
    do {
      page = await this.store.openAfter(page.at(-1) ?? null, BATCH);
      const running = page.filter(({ calls }) => calls.some(({ status }) => status === 'executing'));
      for (const turn of running) await this.turns.submit(turn, { type: 'node_started', node });
    } while (page.length === BATCH);
  }
}
