/** Another process, tab or part of this program holds the lock. Its message is meant for people. */
export class ClientLockedError extends Error {
  override readonly name = 'ClientLockedError';

  /** @param pid the process that holds it; null where that cannot be told, as in a browser. */
  constructor(
    message: string,
    readonly pid: number | null = null,
  ) {
    super(message);
  }
}
