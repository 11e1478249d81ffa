/** Locks per file of a folder, shared by calls that write and uploads of local changes. */
export class PathClaims {
  private readonly claimed = new Set<string>();
  private readonly waiting: { docPaths: readonly string[]; resolve: () => void }[] = [];

  /** Takes the lock if it is free. */
  tryClaim(docPath: string): boolean {
    if (this.claimed.has(docPath)) return false;
    this.claimed.add(docPath);
    return true;
  }

  release(docPath: string): void {
    if (!this.claimed.delete(docPath)) return;
    for (const one of [...this.waiting]) if (this.tryClaimAll(one.docPaths)) this.grant(one);
  }

  /** Runs the work with all locks held. Rejects with the signal's reason if it aborts first. */
  async withClaims<T>(docPaths: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.tryClaimAll(docPaths)) await this.waitFor(docPaths, signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      for (const docPath of docPaths) this.release(docPath);
    }
  }

  private waitFor(docPaths: readonly string[], signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const one = { docPaths, resolve: () => end(resolve) };
      const abort = () => {
        this.waiting.splice(this.waiting.indexOf(one), 1);
        end(() => reject(signal!.reason as Error));
      };
      const end = (settle: () => void) => {
        signal?.removeEventListener('abort', abort);
        settle();
      };
      this.waiting.push(one);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  private tryClaimAll(docPaths: readonly string[]): boolean {
    if (docPaths.some((docPath) => this.claimed.has(docPath))) return false;
    for (const docPath of docPaths) this.claimed.add(docPath);
    return true;
  }

  private grant(one: (typeof this.waiting)[number]): void {
    this.waiting.splice(this.waiting.indexOf(one), 1);
    one.resolve();
  }
}
