import { isFinal } from '@patchbay/protocol';
import type { Call } from '../storage/ports/turn.js';

/** When the clock that is running for a call runs out; null where none is: the call has ended, or the server runs it. */
export function deadlineOf(call: Call): number | null {
  if (isFinal(call.status) || call.location === 'server') return null;
  if (call.status === 'running') return call.executionAt;
  return call.approvalAt ?? call.deliveryAt;
}

/** The next time at which a turn wants a tick: a deadline, a release or a retry. Null where it waits for no clock. */
export function nextDueAt(calls: readonly Call[]): number | null {
  let due: number | null = null;
  for (const call of calls) {
    if (isFinal(call.status)) continue;
    for (const at of [deadlineOf(call), call.releaseAt, call.retryAt]) {
      if (at !== null && (due === null || at < due)) due = at;
    }
  }
  return due;
}
