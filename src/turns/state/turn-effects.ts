import { isFinal, type ToolCancel } from '@patchbay/protocol';
import type { Call, Turn } from '../../storage/ports/turn.js';

/** What a change of a turn asks of the node that a client is connected to. */
export type TurnEffect =
  /** The call is claimed for the client and not sent yet. */
  | { type: 'deliver'; callId: string; clientId: string; attempt: number }
  /** The call has ended, and not by the client that has it in hand. */
  | { type: 'stop'; callId: string; clientId: string; reason: ToolCancel['reason'] };

/**
 * What follows from a change, whoever made it: a function of the two states alone, so that a node that reads a state
 * from the store acts for its own clients as the one that committed it. `before` null: the turn is new to this node.
 */
export function effectsOf(before: Turn | null, after: Turn): TurnEffect[] {
  const effects: TurnEffect[] = [];
  after.calls.forEach((call, at) => {
    const was = before?.calls[at] ?? null;
    const effect = was === call ? null : (deliveryOf(was, call) ?? stopOf(was, call));
    if (effect) effects.push(effect);
  });
  return effects;
}

function deliveryOf(was: Call | null, { callId, status, clientId, attempt }: Call): TurnEffect | null {
  if (status !== 'forwarded' || clientId === null) return null;
  if (was?.status === 'forwarded' && was.attempt === attempt) return null;
  return { type: 'deliver', callId, clientId, attempt };
}

/**
 * A client of which this node never knew that it has the call hears of the end when it resumes. One that has told what was
 * decided has nothing in hand any more.
 */
function stopOf(was: Call | null, { callId, status, clientId, endedBy, approved }: Call): TurnEffect | null {
  if (was === null || isFinal(was.status) || !isFinal(status)) return null;
  if (clientId === null || approved !== undefined) return null;
  if (endedBy !== 'orchestrator' && endedBy !== 'clock') return null;
  return { type: 'stop', callId, clientId, reason: endedBy === 'clock' ? 'timed_out' : 'cancelled' };
}
