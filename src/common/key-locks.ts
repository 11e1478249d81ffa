/** Serializes work per key in this process, first in, first out. */
export class KeyLocks {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** Runs the work once every earlier holder of any of the keys is done. */
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
