import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { NodeId } from '../../storage/ports/node-id.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns } from './open-turns.js';

/** Ends at the start the server calls that an earlier process of this node left behind, and no other node's. */
@Injectable()
export class Recovery implements OnApplicationBootstrap {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly node: NodeId,
  ) {}

  /** One turn after another: each is read, mended and let go of before the next. */
  async onApplicationBootstrap(): Promise<void> {
    const node = this.node.value;
    for (const turn of await this.store.leasedBy(node)) {
      await this.turns.submit(turn, { type: 'node_started', node });
    }
  }
}
