import { isFinal } from '@patchbay/protocol';
import type { Lease } from '../storage/ports/turn.js';
import type { TurnDraft } from './turn-draft.js';

/** How long a node is believed to run its calls without another word from it, in ms. */
const LEASE_MS = 15_000;

/** From now on, `now` in epoch ms, this node runs the server's calls of a turn. */
export function newLease(node: string, now: number): Lease {
  return { owner: node, until: now + LEASE_MS };
}

/**
 * The server runs a turn's calls in their order: one that waits for a person holds up those behind it. Starts all that
 * nothing holds up any more, on the node that runs this turn's calls, else on `node`, where this is committed.
 */
export function startNext(draft: TurnDraft, node: string): void {
  for (const call of [...draft.calls]) {
    if (call.location === 'client' || isFinal(call.status) || call.status === 'executing') continue;
    if (call.status !== 'accepted' || !draft.runOn(node)) return;
    draft.record('Executing', draft.replace(call, { status: 'executing' }), null);
  }
}
