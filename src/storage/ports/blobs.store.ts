/**
 * The bytes of versions, by their sha256, once a workspace. What a version refers to stays; what was put and never
 * referred to is swept.
 */
export abstract class BlobStore {
  /** Stores bytes ahead of the version that will refer to them. */
  abstract put(workspaceId: string, sha256: string, bytes: Uint8Array, now: number): Promise<void>;
  /** Those of the hashes whose bytes the workspace does not hold. */
  abstract missing(workspaceId: string, sha256s: readonly string[]): Promise<string[]>;
  /** The bytes; null where the workspace has none of this hash. */
  abstract read(workspaceId: string, sha256: string): Promise<Buffer | null>;
  /** Removes up to `limit` blobs that were put before this time and that no version refers to; says how many. */
  abstract sweep(before: number, limit: number): Promise<number>;
}
