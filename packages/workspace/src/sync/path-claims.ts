/** Who works on which file of a folder at this moment: a call that writes it, or the upload of what was found on the disk. */
export class PathClaims {
  private readonly taken = new Set<string>();
  private readonly waiting: { docPaths: readonly string[]; resolve: () => void }[] = [];

  /** Takes the file if nobody has it. */
  tryTake(docPath: string): boolean {
    if (this.taken.has(docPath)) return false;
    this.taken.add(docPath);
    return true;
  }

  free(docPath: string): void {
    if (!this.taken.delete(docPath)) return;
    for (const one of [...this.waiting]) if (this.takeAll(one.docPaths)) this.leave(one);
  }

  /** Does the work with all of the files in hand, once all of them are free. */
  async holding<T>(docPaths: readonly string[], work: () => Promise<T>): Promise<T> {
    if (!this.takeAll(docPaths)) {
      await new Promise<void>((resolve) => this.waiting.push({ docPaths, resolve }));
    }
    try {
      return await work();
    } finally {
      for (const docPath of docPaths) this.free(docPath);
    }
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
