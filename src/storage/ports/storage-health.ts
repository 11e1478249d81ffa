/** Whether the store can be read and written to, for the readiness probe. */
export abstract class StorageHealth {
  /** Resolves where it can, after a write; rejects with what is wrong. */
  abstract check(): Promise<void>;
}
