import type { Deadlines, Json, JsonObject, PatchBatch, ToolCallDelivery } from '@patchbay/protocol';
import { isoTime, isoTimeOrNull } from '../common/clock.js';
import type { Call, Turn } from '../storage/ports/turn.js';
import { isServers } from '../turns/deadlines.js';

/** A call as it is sent to a client. `batch`: where the arguments are a patch batch, as it was stored, with its ids. */
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

/** A call's clocks as the wire has them; what is the server's now has none. */
export function deadlinesOf(call: Call): Deadlines {
  if (isServers(call)) return { deliveryAt: null, approvalAt: null, executionAt: null };
  const { deliveryAt, approvalAt, executionAt } = call;
  return {
    deliveryAt: isoTime(deliveryAt),
    approvalAt: isoTimeOrNull(approvalAt),
    executionAt: isoTimeOrNull(executionAt),
  };
}
