import type { Membership } from './turn.js';

/**
 * The bytes of versions, by their sha256, once a workspace. What a version refers to stays.
 *
 * What no version refers to goes in two steps, so that no version ever points at bytes that are going, and no backend
 * needs a transaction for that: first a blob is marked, and only a grace later removed. Whoever is about to refer to a
 * blob, `put` as well as a write of `FileStore`, takes its mark away before the version is written. A version that a
 * removal does not see is then written more than a grace after its writer came for the blob, and no write takes that
 * long. Times are epoch ms, given by the caller.
 *
 * All writes may be sent again when their answer was lost: they change nothing more than one of them would have.
 */
export abstract class BlobStore {
  /**
   * Stores bytes ahead of the version that will refer to them, in the share of `who`, who has to be a member. Those that are there already count
   * as put now, and stay in whose share they are.
   */
  abstract put(who: Membership, sha256: string, bytes: Uint8Array, now: number): Promise<void>;
  /** Those of the hashes whose bytes have to be put: the workspace does not hold them, or has marked them. */
  abstract missing(workspaceId: string, sha256s: readonly string[]): Promise<string[]>;
  /** The bytes, marked or not; null where the workspace has none of this hash. */
  abstract read(workspaceId: string, sha256: string): Promise<Buffer | null>;
  /**
   * Marks, as of `now`, up to `limit` blobs that no version refers to and that nothing was about to refer to since
   * `before`. Whether there may be more.
   */
  abstract mark(before: number, limit: number, now: number): Promise<boolean>;
  /**
   * Removes up to `limit` blobs that have been marked since before `markedBefore`, if still no version refers to them
   * and their mark is the same; one that a version refers to loses its mark. Whether there may be more.
   */
  abstract removeMarked(markedBefore: number, limit: number): Promise<boolean>;
}
