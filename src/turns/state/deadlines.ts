import { type Deadlines, isFinal } from '@patchbay/protocol';
import { isoTime, isoTimeOrNull } from '../../common/clock.js';
import type { Call, Lease, Turn } from '../../storage/ports/turn.js';
import { changedCalls } from '../../storage/ports/turn-calls.js';

/** The current deadline of a call; null after its end or once the server runs it. */
export function deadlineOf(call: Call): number | null {
  if (isFinal(call.status) || isServerRun(call)) return null;
  if (call.status === 'running') return call.executionAt;
  return call.approvalAt ?? call.deliveryAt;
}

/** Whether the server runs the call now or after earlier ones. */
export function isServerRun({ status }: Call): boolean {
  return status === 'accepted' || status === 'executing';
}

/** The next time at which a turn needs a tick: a deadline, release, retry or lease end. Null if there is none. */
export function nextDueAt(calls: readonly Call[], lease: Lease | null): number | null {
  return timeOrNull(calls.reduce((due, call) => Math.min(due, dueOf(call, lease)), Infinity));
}

/** The same for a changed turn: only changed calls are checked, unless the due one changed. */
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

/** When a call next needs a tick; Infinity if never. */
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

/** A call's deadlines for the wire; a call of the server has none. */
export function deadlinesOf(call: Call): Deadlines {
  if (isServerRun(call)) return { deliveryAt: null, approvalAt: null, executionAt: null };
  const { deliveryAt, approvalAt, executionAt } = call;
  return {
    deliveryAt: isoTime(deliveryAt),
    approvalAt: isoTimeOrNull(approvalAt),
    executionAt: isoTimeOrNull(executionAt),
  };
}
