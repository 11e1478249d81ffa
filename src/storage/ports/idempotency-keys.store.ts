import type { TurnRef } from './turn.js';

/** An Idempotency-Key of a user in a workspace, and the turn that it names. */
export interface KeyClaim extends TurnRef {
  userId: string;
  key: string;
  /** Epoch ms. */
  claimedAt: number;
}

/**
 * Which turn an Idempotency-Key stands for: a record of its own, written before the turn. Where the process died between
 * the two, the key names a turn that is not there, and the next request with the key makes it under that name.
 */
export abstract class IdempotencyKeyStore {
  /**
   * Claims the key for the claim's turn, unless it was claimed since `since` (epoch ms) already. Gives the claim that
   * stands. The same claim again answers as the first did.
   */
  abstract claim(claim: KeyClaim, since: number): Promise<KeyClaim>;
  /** The claim of this key since `since`. */
  abstract find(workspaceId: string, userId: string, key: string, since: number): Promise<KeyClaim | null>;
  /** Drops claims from before `before`; what no turn was ever made of, too. */
  abstract removeExpired(before: number): Promise<void>;
}
