import type { Membership } from './turn.js';

/**
 * The bytes of versions by sha256, stored once per workspace. Referenced bytes are never removed. Unreferenced bytes
 * are removed in two steps, without a transaction: a blob is marked, and removed after a grace period. Before a
 * version is written, `put` or the write of `FileStore` removes the mark of its blob. A removal could miss only
 * versions written more than a grace period after that, and no write takes so long. Times are epoch ms, given by the
 * caller. All writes are idempotent.
 */
export abstract class BlobStore {
  /** Stores bytes before their version, in the quota of `who`, a member. Existing bytes keep their owner. */
  abstract put(who: Membership, sha256: string, bytes: Uint8Array, now: number): Promise<void>;
  /** Those of the hashes whose bytes must be put: the workspace lacks them, or has marked them. */
  abstract missing(workspaceId: string, sha256s: readonly string[]): Promise<string[]>;
  /** The bytes, marked or not; null if the workspace has none with this hash. */
  abstract read(workspaceId: string, sha256: string): Promise<Buffer | null>;
  /** Marks, as of `now`, up to `limit` unreferenced blobs not put since `before`. True if there may be more. */
  abstract mark(before: number, limit: number, now: number): Promise<boolean>;
  /**
   * Removes up to `limit` blobs that have been marked since before `markedBefore`, if they are still unreferenced and
   * their mark is unchanged; referenced ones lose their mark. True if there may be more.
   */
  abstract removeMarked(markedBefore: number, limit: number): Promise<boolean>;
}
