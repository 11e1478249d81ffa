/** Locks per file of a folder, shared by calls that write and uploads of local changes. */
export class PathClaims {
  private readonly taken = new Set<string>();
  private readonly waiting: { docPaths: readonly string[]; resolve: () => void }[] = [];

  /** Takes the lock if it is free. */
  tryTake(docPath: string): boolean {
    if (this.taken.has(docPath)) return false;
    this.taken.add(docPath);
    return true;
  }

  free(docPath: string): void {
    if (!this.taken.delete(docPath)) return;
    for (const one of [...this.waiting]) if (this.takeAll(one.docPaths)) this.leave(one);
  }

  /** Runs the work with all locks held. Rejects with the signal's reason if it aborts first. */
  async holding<T>(docPaths: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.takeAll(docPaths)) await this.untilFree(docPaths, signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      for (const docPath of docPaths) this.free(docPath);
    }
  }

  private untilFree(docPaths: readonly string[], signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const one = { docPaths, resolve: () => end(resolve) };
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(one), 1);
        end(() => reject(signal!.reason as Error));
      };
      const end = (settle: () => void) => {
        signal?.removeEventListener('abort', giveUp);
        settle();
      };
      this.waiting.push(one);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  private takeAll(docPaths: readonly string[]): boolean {
    if (docPaths.some((docPath) => this.taken.has(docPath))) return false;
    for (const docPath of docPaths) this.taken.add(docPath);
    return true;
  }

  private leave(one: (typeof this.waiting)[number]): void {
    this.waiting.splice(this.waiting.indexOf(one), 1);
    one.resolve();
  }
}
