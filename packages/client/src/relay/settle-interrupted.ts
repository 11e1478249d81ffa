import type { Json } from '@patchbay/protocol';
import { messageOf } from '../http/patchbay-error.js';
import type { Journal } from '../journal/journal.js';
import { handlerOf, type ToolHandlers } from './tool-handler.js';

/**
 * Settles every call that was running when the last process of this client died. A call that cannot be settled does
 * not hold up the others: its handler decides once the server wants it.
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
