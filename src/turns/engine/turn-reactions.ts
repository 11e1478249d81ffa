import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Deliveries } from './deliveries.js';
import { RemovedMembers } from './removed-members.js';
import { Dispatcher } from './dispatcher.js';
import { OpenTurns, type TurnChange } from './open-turns.js';
import { ServerCalls } from './server-calls.js';
import { TurnHints } from './turn-hints.js';
import { TurnWaiters } from './turn-waiters.js';

/** Reactions to a turn's new state, in this order, on every node that learns of it. */
@Injectable()
export class TurnReactions {
  private readonly reactions: readonly ((change: TurnChange) => void)[];

  constructor(
    turns: OpenTurns,
    deliveries: Deliveries,
    dispatcher: Dispatcher,
    serverCalls: ServerCalls,
    removedMembers: RemovedMembers,
    waiters: TurnWaiters,
    hints: TurnHints,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(TurnReactions.name);
    this.reactions = [
      // Sends claimed calls to clients of this node and stops ended ones.
      (change) => deliveries.react(change),
      // Updates the clients' slots and claims pending calls for free ones.
      (change) => dispatcher.react(change),
      // Starts this node's server calls and aborts those that ended otherwise.
      (change) => serverCalls.react(change),
      // Rechecks an ended membership before waiting requests are answered by it.
      (change) => removedMembers.react(change),
      // Answers requests that wait for the turn's end.
      (change) => waiters.react(change),
      // Informs the other nodes.
      (change) => hints.react(change),
    ];
    turns.onChange((change) => this.run(change));
  }

  /** Runs all reactions; a failure does not affect the others. */
  run(change: TurnChange): void {
    for (const react of this.reactions) {
      try {
        react(change);
      } catch (error) {
        this.logger.error({ err: error, turnId: change.after.turnId }, 'A reaction to a turn failed');
      }
    }
  }
}
