import type { Turn } from '../ports/turn.js';
import type { CallResult } from '../ports/turns.store.js';
import type { CallValues } from './records.js';

/** The results of the calls, for a write of the whole turn. */
export function resultsOf(turn: Turn, values: readonly CallValues[]): CallResult[] {
  return values.flatMap(({ arguments: _arguments, ...values }, at) =>
    Object.keys(values).length === 0 ? [] : [{ callId: turn.calls[at]!.callId, ...values }],
  );
}
