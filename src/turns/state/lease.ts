import type { Lease } from '../../storage/ports/turn.js';

/** How long a node is believed to run its calls without another word from it, in ms; thrice the longest `catchUpMs`, at which it says one. */
const LEASE_MS = 15_000;

/** From now on, `now` in epoch ms, this node runs the server's calls of a turn. */
export function newLease(node: string, now: number): Lease {
  return { owner: node, until: now + LEASE_MS };
}
