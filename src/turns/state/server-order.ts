import { isFinal } from '@patchbay/protocol';
import type { TurnDraft } from './turn-draft.js';

/**
 * Server calls run in order; one that waits for a person blocks those behind it. Starts all unblocked calls on the
 * leasing node, else on `node`, which commits this.
 */
export function startNext(draft: TurnDraft, node: string): void {
  for (const call of draft.calls) {
    if (call.location === 'client' || isFinal(call.status) || call.status === 'executing') continue;
    if (call.status !== 'accepted' || !draft.runOn(node)) return;
    draft.record('Executing', draft.replace(call, { status: 'executing' }), null);
  }
}
