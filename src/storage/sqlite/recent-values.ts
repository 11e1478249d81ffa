import type { Json } from '@patchbay/protocol';
import type { TurnRef } from '../ports/turn.js';
import type { CallResult, StoredResult } from '../ports/turns.store.js';

/** Turns whose values are kept. */
const MAX_TURNS = 2_000;

/** The values of a turn's calls. */
interface TurnValues {
  arguments: readonly Json[];
  /** By callId. */
  results: Map<string, StoredResult>;
}

/**
 * The small values of the newest turns, which are read back at their delivery and in their answers. This process alone
 * writes them, so they are what is stored.
 */
export class RecentValues {
  /** The oldest first. */
  private readonly turns = new Map<string, TurnValues>();

  find(ref: TurnRef): TurnValues | undefined {
    return this.turns.get(keyOf(ref));
  }

  /** Call it after the commit of a new turn that is one row. */
  inserted(ref: TurnRef, callArguments: readonly Json[]): void {
    if (this.turns.size >= MAX_TURNS) this.turns.delete(this.turns.keys().next().value!);
    this.turns.set(keyOf(ref), { arguments: callArguments, results: new Map() });
  }

  /** Call it after a commit with these results; `areSmall`: they are in the row of the turn. */
  ended(ref: TurnRef, results: readonly CallResult[], areSmall: boolean): void {
    const known = this.turns.get(keyOf(ref));
    if (known === undefined) return;
    if (!areSmall) this.turns.delete(keyOf(ref));
    else
      for (const { callId, result = null, details = null } of results)
        known.results.set(callId, { result, details });
  }
}

function keyOf({ workspaceId, sessionId, turnId }: TurnRef): string {
  return `${workspaceId}/${sessionId}/${turnId}`;
}
