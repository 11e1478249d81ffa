import type { AuditDraft } from '../../storage/ports/audit.store.js';
import { newId } from '../../common/ids.js';
import type { Turn } from '../../storage/ports/turn.js';
import { placesIn } from './subject.js';
import type { CallEvent, TurnEvent, WholeTurnEvent } from './turn-draft.js';

/** The audit event of a step: `Tool.CreateFile.Forwarded` for a call [AUDIT-5], `Turn.Completed` for a turn. */
export function auditDraft(turn: Turn, event: TurnEvent, now: number): AuditDraft {
  const { clientId, userId = turn.userId } = event;
  const { sessionId, conversationId, turnId } = turn;
  return {
    ...{ eventId: newId(), at: now, sessionId, conversationId, turnId, actor: { userId, clientId } },
    ...(event.call === null ? ofTurn(event) : ofCall(event)),
  };
}

type Part = Pick<AuditDraft, 'name' | 'toolCallId' | 'callId' | 'attempt' | 'fields'>;

function ofTurn({ step, fields }: WholeTurnEvent): Part {
  return { name: step, toolCallId: null, callId: null, attempt: null, fields };
}

function ofCall({ call, step, fields }: CallEvent): Part {
  // The step's own place is more precise.
  const places = 'path' in fields || 'paths' in fields ? {} : placesIn(call.subject);
  return {
    name: `Tool.${call.auditName}.${step}`,
    toolCallId: call.toolCallId,
    callId: call.callId,
    attempt: call.attempt === 0 ? null : call.attempt,
    fields: { toolName: call.name, ...places, ...fields },
  };
}
