import { LRUCache } from 'lru-cache';

/** Maximum age of a cached value, ms: below the 5 s that docs/protocol.md promises. */
const MAX_AGE_MS = 4_000;
const MAX_ENTRIES = 10_000;

interface Entry<Value> {
  readonly startedAt: number;
  readonly value: Promise<Value>;
  /** Set once the read has returned. */
  result?: Value;
  /** The value changed while it was being read. */
  isDropped: boolean;
}

/** Caches values of the store for 4 s. Concurrent reads of one key share one query. Failed reads are not cached. */
export class RecentReads<Value, Of = string> {
  private readonly entries = new LRUCache<string, Entry<Value>>({ max: MAX_ENTRIES });

  /** @param elapsed a monotonic clock, in ms */
  constructor(
    private readonly read: (of: Of) => Promise<Value>,
    private readonly keyOf: (of: Of) => string,
    private readonly elapsed: () => number,
  ) {}

  get(of: Of): Promise<Value> {
    return this.settled(this.recent(of) ?? this.begin(of), of);
  }

  /** Reads the value now, bypassing the cache. */
  renew(of: Of): Promise<Value> {
    return this.settled(this.begin(of), of);
  }

  /** The cached value; undefined if it must be read. */
  known(of: Of): Value | undefined {
    return this.recent(of)?.result;
  }

  /** Invalidates the value: the next `get` reads it. */
  drop(of: Of): void {
    const entry = this.entries.peek(this.keyOf(of));
    if (entry === undefined) return;
    entry.isDropped = true;
    this.entries.delete(this.keyOf(of));
  }

  private async settled(entry: Entry<Value>, of: Of): Promise<Value> {
    const value = await entry.value;
    // A value that was dropped during the read may predate the change.
    return entry.isDropped ? this.get(of) : value;
  }

  private recent(of: Of): Entry<Value> | undefined {
    const entry = this.entries.get(this.keyOf(of));
    return entry !== undefined && this.elapsed() - entry.startedAt < MAX_AGE_MS ? entry : undefined;
  }

  private begin(of: Of): Entry<Value> {
    const key = this.keyOf(of);
    const entry: Entry<Value> = { startedAt: this.elapsed(), value: this.read(of), isDropped: false };
    this.entries.set(key, entry);
    entry.value.then(
      (result) => (entry.result = result),
      () => {
        if (this.entries.peek(key) === entry) this.entries.delete(key);
      },
    );
    return entry;
  }
}
