import type { CallErrorCode, ToolCallError } from '@patchbay/protocol';
import type { Call } from '../../storage/ports/turn.js';

/** The error of an expired call, by the deadline that expired. */
export function timeoutError(call: Call): ToolCallError & { code: CallErrorCode } {
  if (call.status === 'running') {
    return { code: 'EXECUTION_TIMEOUT', message: 'The client started the call but sent no result in time.' };
  }
  if (call.approvalAt !== null) {
    return { code: 'APPROVAL_TIMEOUT', message: 'Nobody approved or denied the call in time.' };
  }
  return { code: 'DELIVERY_TIMEOUT', message: notTaken(call) };
}

/** A person needs to know which folder to connect. */
function notTaken({ roots = [] }: Call): string {
  if (roots.length === 0) return 'No client took the call in time. Is an editor connected?';
  const names = roots.map((docPath) => `\`${docPath}\``).join(', ');
  const folders = roots.length === 1 ? `the folder ${names}` : `the folders ${names}`;
  const pronoun = roots.length === 1 ? 'it' : 'them together';
  return `No client with ${folders} took the call in time. Connect ${pronoun}: patchbay connect.`;
}
