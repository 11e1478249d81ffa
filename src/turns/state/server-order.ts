import { isFinal } from '@patchbay/protocol';
import type { TurnDraft } from './turn-draft.js';

/**
 * The server runs a turn's calls in their order: one that waits for a person holds up those behind it. Starts all that
 * nothing holds up any more, on the node that runs this turn's calls, else on `node`, where this is committed.
 */
export function startNext(draft: TurnDraft, node: string): void {
  for (const call of draft.calls) {
    if (call.location === 'client' || isFinal(call.status) || call.status === 'executing') continue;
    if (call.status !== 'accepted' || !draft.runOn(node)) return;
    draft.record('Executing', draft.replace(call, { status: 'executing' }), null);
  }
}
