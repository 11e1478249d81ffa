import type { Call, Turn } from './turn.js';

/** Positions, from 0, of calls that have changed. Identical objects count as unchanged. */
export function changedCalls(before: Turn, after: Turn): number[] {
  const changed: number[] = [];
  for (let at = 0; at < after.calls.length; at += 1)
    if (after.calls[at] !== before.calls[at]) changed.push(at);
  return changed;
}

/** Position of a call in its turn, or -1. Our callIds ascend with the position; others are found too. */
export function positionOf(calls: readonly Call[], callId: string): number {
  let low = 0;
  let high = calls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (calls[middle]!.callId < callId) low = middle + 1;
    else high = middle;
  }
  if (calls[low]?.callId === callId) return low;
  return calls.findIndex((call) => call.callId === callId);
}

/** The call of a turn by its callId. */
export function callOf(turn: Turn | null, callId: string): Call | undefined {
  return turn?.calls[positionOf(turn.calls, callId)];
}
