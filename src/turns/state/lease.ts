import type { Lease } from '../../storage/ports/turn.js';

/** Lease of a node on its calls, ms: three times the longest `catchUpMs`, at which it is renewed. */
const LEASE_MS = 15_000;

/** The lease under which this node runs a turn's server calls from `now` (epoch ms). */
export function newLease(node: string, now: number): Lease {
  return { owner: node, until: now + LEASE_MS };
}
