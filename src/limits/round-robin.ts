/** One queue per key. Keys take turns, so that one with many items does not delay another. */
export class RoundRobin<Item, Key = string> {
  /** In the order of their next turn. */
  private readonly queues = new Map<Key, Item[]>();
  private count = 0;

  /** Number of items in all queues. */
  get size(): number {
    return this.count;
  }

  sizeOf(key: Key): number {
    return this.queues.get(key)?.length ?? 0;
  }

  push(key: Key, item: Item): void {
    const queue = this.queues.get(key);
    if (queue) queue.push(item);
    else this.queues.set(key, [item]);
    this.count += 1;
  }

  /** The first key in order that may run; undefined if there is none. */
  next(mayRun: (key: Key) => boolean = () => true): Key | undefined {
    for (const key of this.queues.keys()) if (mayRun(key)) return key;
    return undefined;
  }

  /** Removes the next item of a key, which moves behind all others. */
  shift(key: Key | undefined = this.next()): Item | undefined {
    const queue = this.queues.get(key!);
    if (queue === undefined) return undefined;
    const item = queue.shift();
    this.count -= 1;
    this.queues.delete(key!);
    if (queue.length > 0) this.queues.set(key!, queue);
    return item;
  }

  /** Removes the last item of the longest queue, if that has more than `limit`. */
  popLongest(limit: number): Item | undefined {
    let longest: Item[] | undefined;
    for (const queue of this.queues.values()) if (queue.length > (longest?.length ?? limit)) longest = queue;
    if (longest !== undefined) this.count -= 1;
    return longest?.pop();
  }

  /** Removes all items of a key. */
  clear(key: Key): Item[] {
    const items = this.queues.get(key) ?? [];
    this.queues.delete(key);
    this.count -= items.length;
    return items;
  }
}
