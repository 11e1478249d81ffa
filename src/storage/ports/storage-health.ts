/** Whether the store answers, for the readiness probe. */
export abstract class StorageHealth {
  /** Resolves where it does; rejects with what is wrong. */
  abstract check(): Promise<void>;
}
