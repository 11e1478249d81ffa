import { isFinal } from '@patchbay/protocol';
import type { Call, Lease } from '../storage/ports/turn.js';

/** When the clock that is running for a call runs out; null where none is: the call has ended, or is the server's now. */
export function deadlineOf(call: Call): number | null {
  if (isFinal(call.status) || isServers(call)) return null;
  if (call.status === 'running') return call.executionAt;
  return call.approvalAt ?? call.deliveryAt;
}

/** The server runs the call, or will once those before it have ended. */
export function isServers({ status }: Call): boolean {
  return status === 'accepted' || status === 'executing';
}

/**
 * The next time at which a turn wants a tick: a deadline, a release, a retry, or the end of the lease under which the
 * server runs its calls. Null where it waits for no clock.
 */
export function nextDueAt(calls: readonly Call[], lease: Lease | null): number | null {
  let due: number | null = null;
  for (const call of calls) {
    if (isFinal(call.status)) continue;
    const leaseEnd = call.status === 'executing' ? (lease?.until ?? null) : null;
    for (const at of [deadlineOf(call), call.releaseAt, call.retryAt, leaseEnd]) {
      if (at !== null && (due === null || at < due)) due = at;
    }
  }
  return due;
}
