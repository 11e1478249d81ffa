import { type CallErrorCode, isFinal, type ToolCancel } from '@patchbay/protocol';
import type { Call, Turn } from '../../storage/ports/turn.js';

const GONE: CallErrorCode = 'TOOL_GONE';

/** What a change of a turn requires from the node of a client. */
export type TurnEffect =
  /** The call is claimed for the client and not yet sent. */
  | { type: 'deliver'; callId: string; clientId: string; attempt: number }
  /** The call has ended, not by the client that holds it, or another client has it. */
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
    if (was !== null && was !== call && isMoved(was, call))
      effects.push({ type: 'stop', callId: call.callId, clientId: was.clientId!, reason: 'moved' });
  });
  return effects;
}

/** Its holder has withdrawn the tool, and another client offers it. */
function isMoved(was: Call, call: Call): boolean {
  if (call.offer === undefined || was.clientId === null || isFinal(call.status)) return false;
  const isReleased =
    call.refusedBy === was.clientId && was.refusedBy !== was.clientId && call.retryAt === null;
  return isReleased && call.clientId !== was.clientId;
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
function stopOf(
  was: Call | null,
  { callId, status, clientId, endedBy, approved, error }: Call,
): TurnEffect | null {
  if (was === null || isFinal(was.status) || !isFinal(status)) return null;
  if (clientId === null || approved !== undefined) return null;
  if (error?.code === GONE && endedBy === 'server') return { type: 'stop', callId, clientId, reason: 'gone' };
  if (endedBy !== 'orchestrator' && endedBy !== 'clock') return null;
  return { type: 'stop', callId, clientId, reason: endedBy === 'clock' ? 'timed_out' : 'cancelled' };
}
