import type { Json } from '@patchbay/protocol';
import { messageOf } from '../http/patchbay-error.js';
import type { Journal } from '../journal/journal.js';
import { handlerOf, type ToolHandlers } from './tool-handler.js';

/**
 * Has every call settled that had started when the last process of this client died. One that cannot be settled keeps
 * back no other: it stays as it is, and its handler decides once the server wants it.
 */
export async function settleInterrupted(
  journal: Journal,
  tools: ToolHandlers,
  warn: (message: string) => void,
): Promise<void> {
  for (const entry of journal.all()) {
    const { callId, call, state } = entry;
    if (state !== 'running' || !call) continue;
    const handler = handlerOf(tools, call.name);
    if (typeof handler !== 'object' || !handler.settle) continue;
    const context = {
      writeLog: journal.writeLog(callId),
      ended: (result: Json) => journal.settle(callId, result),
      notRun: () => journal.rollBack(callId),
    };
    try {
      await handler.settle(call, context, entry);
    } catch (error) {
      warn(
        `Call ${callId} of ${call.name}, which was interrupted, could not be settled: ${messageOf(error)}`,
      );
    }
  }
}
