/**
 * Lets the writers of one path in this process take turns, so that a crowd on one path costs a write each and not a
 * race each. Between processes the store's guard decides.
 */
export class PathLocks {
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
