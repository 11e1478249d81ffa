/** Another process, tab or part of this program holds the lock. The message is for people. */
export class ClientLockedError extends Error {
  override readonly name = 'ClientLockedError';

  /** @param pid the process that holds it; null if unknown, as in a browser. */
  constructor(
    message: string,
    readonly pid: number | null = null,
  ) {
    super(message);
  }
}
