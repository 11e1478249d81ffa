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
export class RecentReads<Value, Subject = string> {
  private readonly entries = new LRUCache<string, Entry<Value>>({ max: MAX_ENTRIES });

  /** @param elapsed a monotonic clock, in ms */
  constructor(
    private readonly read: (subject: Subject) => Promise<Value>,
    private readonly keyOf: (subject: Subject) => string,
    private readonly elapsed: () => number,
  ) {}

  get(subject: Subject): Promise<Value> {
    return this.valueOf(this.freshEntry(subject) ?? this.begin(subject), subject);
  }

  /** Reads the value now, bypassing the cache. */
  renew(subject: Subject): Promise<Value> {
    return this.valueOf(this.begin(subject), subject);
  }

  /** The cached value; undefined if it must be read. */
  known(subject: Subject): Value | undefined {
    return this.freshEntry(subject)?.result;
  }

  /** Invalidates the value: the next `get` reads it. */
  drop(subject: Subject): void {
    const entry = this.entries.peek(this.keyOf(subject));
    if (entry === undefined) return;
    entry.isDropped = true;
    this.entries.delete(this.keyOf(subject));
  }

  private async valueOf(entry: Entry<Value>, subject: Subject): Promise<Value> {
    const value = await entry.value;
    // A value that was dropped during the read may predate the change.
    return entry.isDropped ? this.get(subject) : value;
  }

  private freshEntry(subject: Subject): Entry<Value> | undefined {
    const entry = this.entries.get(this.keyOf(subject));
    return entry !== undefined && this.elapsed() - entry.startedAt < MAX_AGE_MS ? entry : undefined;
  }

  private begin(subject: Subject): Entry<Value> {
    const key = this.keyOf(subject);
    const entry: Entry<Value> = { startedAt: this.elapsed(), value: this.read(subject), isDropped: false };
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
