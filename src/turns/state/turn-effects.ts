import { isFinal, type ToolCancel } from '@patchbay/protocol';
import type { Call, Turn } from '../../storage/ports/turn.js';

/** What a change of a turn requires from the node of a client. */
export type TurnEffect =
  /** The call is claimed for the client and not yet sent. */
  | { type: 'deliver'; callId: string; clientId: string; attempt: number }
  /** The call has ended, not by the client that holds it. */
  | { type: 'stop'; callId: string; clientId: string; reason: ToolCancel['reason'] };

/**
 * The effects of a change, derived from both states alone, so that every node acts for its own clients. `before` null:
 * the turn is new to this node.
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
 * A client that was not known to hold the call learns of its end on resume. A client that reported the decision no
 * longer holds it.
 */
function stopOf(was: Call | null, { callId, status, clientId, endedBy, approved }: Call): TurnEffect | null {
  if (was === null || isFinal(was.status) || !isFinal(status)) return null;
  if (clientId === null || approved !== undefined) return null;
  if (endedBy !== 'orchestrator' && endedBy !== 'clock') return null;
  return { type: 'stop', callId, clientId, reason: endedBy === 'clock' ? 'timed_out' : 'cancelled' };
}
