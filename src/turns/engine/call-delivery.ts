import type { Json, JsonObject, PatchBatch, ToolCallDelivery } from '@patchbay/protocol';
import type { Call, Turn } from '../../storage/ports/turn.js';
import { deadlinesOf } from '../state/deadlines.js';

/** A call as it is sent to a client. `batch`: the stored patch batch of the arguments, with its ids. */
export function deliveryOf(turn: Turn, call: Call, args: Json, batch: PatchBatch | null): ToolCallDelivery {
  return {
    callId: call.callId,
    attempt: call.attempt,
    toolCallId: call.toolCallId,
    sessionId: turn.sessionId,
    conversationId: turn.conversationId,
    turnId: turn.turnId,
    name: call.name,
    arguments: args as JsonObject,
    deadlines: deadlinesOf(call),
    ...(batch && { batch }),
    ...(call.needsApproval && { approvalOnly: true }),
  };
}
