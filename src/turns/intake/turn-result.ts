import {
  type InvokeResult,
  isFinal,
  type Json,
  type OpenToolCall,
  type ResultFormat,
  type ToolCallError,
  type ToolResult,
  type TurnResult,
} from '@patchbay/protocol';
import { errorFor, type Viewer } from '../../access/visible-call.js';
import { isoTime } from '../../common/clock.js';
import { deadlinesOf } from '../state/deadlines.js';
import { resultMessages } from './result-messages.js';
import type { Call, Turn } from '../../storage/ports/turn.js';
import type { StoredResult } from '../../storage/ports/turns.store.js';
import { isInFlight } from '../state/turn-state.js';

/**
 * The turn result [TURN-4] [TURN-5]. `callArguments` are in the order of the calls; `results` omits what the viewer may
 * not see.
 */
export function turnResultOf(
  turn: Turn,
  callArguments: readonly Json[],
  results: ReadonlyMap<string, StoredResult>,
  format: ResultFormat = 'neutral',
  viewer: Viewer = 'user',
): TurnResult {
  const toolCalls: OpenToolCall[] = [];
  const toolResults: ToolResult[] = [];
  turn.calls.forEach((call, at) => {
    if (isFinal(call.status)) toolResults.push(endedCall(call, results.get(call.callId), viewer));
    else toolCalls.push(openCall(call, callArguments[at] ?? null));
  });
  const { sessionId, conversationId, turnId, status, direct } = turn;
  const kind = toolCalls.length === 0 ? 'final' : 'client_tool_continuation';
  const messages = resultMessages(toolResults, format);
  return {
    ...{ kind, sessionId, conversationId, turnId, status, toolCalls, toolResults },
    ...(direct && { direct }),
    ...(messages && { messages }),
  };
}

/** The answer of the turn routes: the turn result, with the warnings of its calls. */
export function turnAnswer(turn: Turn, result: TurnResult): InvokeResult<TurnResult> {
  const warnings = turn.calls.flatMap((call) =>
    call.warnings.map(({ code, message }) => ({
      errorCode: code,
      message,
      details: { toolCallId: call.toolCallId },
    })),
  );
  return { successful: true, errors: [], warnings, result };
}

/** The HTTP status of a turn result: 202 while some calls are open. */
export function statusOf({ result }: InvokeResult<TurnResult>): number {
  return result.kind === 'final' ? 200 : 202;
}

function openCall(call: Call, args: Json): OpenToolCall {
  return {
    toolCallId: call.toolCallId,
    callId: call.callId,
    name: call.name,
    arguments: args,
    executionLocation: call.location,
    status: call.status as OpenToolCall['status'],
    attempt: call.attempt,
    clientId: isInFlight(call) ? call.clientId : null,
    deadlines: deadlinesOf(call),
    ...(call.roots && { roots: [...call.roots] }),
  };
}

/** `stored` undefined: no result was reported. */
function endedCall(call: Call, stored: StoredResult | undefined, viewer: Viewer): ToolResult {
  return {
    toolCallId: call.toolCallId,
    callId: call.callId,
    name: call.name,
    status: call.status as ToolResult['status'],
    result: stored?.result ?? null,
    error: withDetails(errorFor(viewer, call), stored?.details ?? null),
    executionMs: call.executionMs,
    endedAt: isoTime(call.endedAt!),
  };
}

function withDetails(error: ToolCallError | null, details: Json): ToolCallError | null {
  return error === null || details === null ? error : { ...error, details };
}
