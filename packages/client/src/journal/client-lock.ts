/** Another process of this machine, or of one that shares the home, holds the lock. */
export class ClientLockedError extends Error {
  constructor(
    message: string,
    readonly pid: number,
  ) {
    super(message);
    this.name = 'ClientLockedError';
  }
}

/** Keeps a second process from using the same journal; survives kill -9 without leaving a lock that bars the next start. */
export class ClientLock {
  private constructor() {}

  /** @throws ClientLockedError, its message meant for the terminal. */
  static async acquire(directory: string): Promise<ClientLock> {
    void directory;
    throw new Error('not written yet');
  }

  /** Idempotent. */
  async release(): Promise<void> {
    throw new Error('not written yet');
  }
}
