/** Whether the store can be read and written, for the readiness probe. */
export abstract class StorageHealth {
  /** Resolves after a successful write; rejects with the fault. */
  abstract check(): Promise<void>;
}
