/** Lets those who work on one thing in this process take turns, in the order in which they came. */
export class KeyLocks {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** Runs the work once every earlier holder of one of the keys is done. */
  async hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const earlier = keys.map((key) => this.tails.get(key) ?? Promise.resolve());
    const result = Promise.all(earlier).then(work);
    const tail = result.catch(() => undefined);
    for (const key of keys) this.tails.set(key, tail);
    await tail;
    for (const key of keys) if (this.tails.get(key) === tail) this.tails.delete(key);
    return result;
  }
}
