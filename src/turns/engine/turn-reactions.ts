import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Deliveries } from './deliveries.js';
import { RemovedMembers } from './removed-members.js';
import { Dispatcher } from './dispatcher.js';
import { OpenTurns, type TurnChange } from './open-turns.js';
import { ServerCalls } from './server-calls.js';
import { TurnHints } from './turn-hints.js';
import { TurnWaiters } from './turn-waiters.js';

/** What follows from a turn's new state, in this order, on every node that gets to know it. */
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
      // Calls that were claimed for clients of this node are sent, and those that have ended are stopped.
      (change) => deliveries.react(change),
      // Places in the clients' windows are taken and given back, and pending calls claimed for what is free.
      (change) => dispatcher.react(change),
      // What this node is to run begins, and what has ended otherwise is stopped.
      (change) => serverCalls.react(change),
      // A membership that has ended is asked for anew, before those who wait are answered by it.
      (change) => removedMembers.react(change),
      // Requests that wait for the turn's end are answered.
      (change) => waiters.react(change),
      // The other nodes hear of it.
      (change) => hints.react(change),
    ];
    turns.onChange((change) => this.run(change));
  }

  /** Runs all of them; one that fails holds up none of the others. */
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
