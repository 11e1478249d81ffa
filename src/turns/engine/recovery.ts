import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { NodeId } from '../../storage/ports/node-id.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns } from './open-turns.js';

/** On start, ends the server calls that an earlier process of this node left running. */
@Injectable()
export class Recovery implements OnApplicationBootstrap {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly node: NodeId,
  ) {}

  /** Sequential: each turn is read, repaired and unloaded before the next. */
  async onApplicationBootstrap(): Promise<void> {
    const node = this.node.value;
    for (const turn of await this.store.leasedBy(node)) {
      await this.turns.submit(turn, { type: 'node_started', node });
    }
  }
}
