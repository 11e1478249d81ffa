import { type Deadlines, isFinal } from '@patchbay/protocol';
import { isoTime, isoTimeOrNull } from '../../common/clock.js';
import type { Call, Lease, Turn } from '../../storage/ports/turn.js';
import { changedCalls } from '../../storage/ports/turn-calls.js';

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
  return timeOrNull(calls.reduce((due, call) => Math.min(due, dueOf(call, lease)), Infinity));
}

/** The same for a turn that came of another: only what has changed is looked at, unless it was what the turn waited for. */
export function dueAfter(before: Turn, after: Turn): number | null {
  const { calls, lease } = after;
  if (lease !== before.lease) return nextDueAt(calls, lease);
  const was = before.dueAt ?? Infinity;
  let due = was;
  for (const at of changedCalls(before, after)) {
    if (dueOf(before.calls[at]!, lease) <= was) return nextDueAt(calls, lease);
    due = Math.min(due, dueOf(calls[at]!, lease));
  }
  return timeOrNull(due);
}

/** When a call next wants a tick of its turn; Infinity where it waits for no clock. */
function dueOf(call: Call, lease: Lease | null): number {
  if (isFinal(call.status)) return Infinity;
  const leaseEnd = call.status === 'executing' ? (lease?.until ?? Infinity) : Infinity;
  return Math.min(
    deadlineOf(call) ?? Infinity,
    call.releaseAt ?? Infinity,
    call.retryAt ?? Infinity,
    leaseEnd,
  );
}

function timeOrNull(time: number): number | null {
  return time === Infinity ? null : time;
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
