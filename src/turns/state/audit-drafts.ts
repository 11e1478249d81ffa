import type { AuditDraft } from '../../storage/ports/audit.store.js';
import { newId } from '../../common/ids.js';
import type { Turn } from '../../storage/ports/turn.js';
import { placesIn } from './subject.js';
import type { TurnEvent } from './turn-draft.js';

/** A step of a call as the audit event that records it: `Tool.CreateFile.Forwarded` [AUDIT-5]. */
export function auditDraft(turn: Turn, event: TurnEvent, now: number): AuditDraft {
  const { call, step, clientId, fields } = event;
  // A field of the step's own says better where it was.
  const places = 'path' in fields || 'paths' in fields ? {} : placesIn(call.subject);
  return {
    eventId: newId(),
    name: `Tool.${call.auditName}.${step}`,
    at: now,
    sessionId: turn.sessionId,
    conversationId: turn.conversationId,
    turnId: turn.turnId,
    toolCallId: call.toolCallId,
    callId: call.callId,
    attempt: call.attempt === 0 ? null : call.attempt,
    actor: { userId: event.userId ?? turn.userId, clientId },
    fields: { toolName: call.name, ...places, ...fields },
  };
}
