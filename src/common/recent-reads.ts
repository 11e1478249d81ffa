import { LRUCache } from 'lru-cache';

/** How old a value may be when a read returns it, in ms: below the 5 s that docs/protocol.md promises. */
const MAX_AGE_MS = 4_000;
const MAX_ENTRIES = 10_000;

interface Entry<Value> {
  readonly startedAt: number;
  readonly value: Promise<Value>;
  /** Once the read has returned. */
  result?: Value;
  /** The value changed while it was being read. */
  isDropped: boolean;
}

/**
 * Values of the store, each read at most once in 4 s. Concurrent reads of one key share one query. A failed read is not
 * kept: its callers get the error.
 */
export class RecentReads<Value> {
  private readonly entries = new LRUCache<string, Entry<Value>>({ max: MAX_ENTRIES });

  /** @param elapsed a monotonic clock, in ms */
  constructor(
    private readonly read: (key: string) => Promise<Value>,
    private readonly elapsed: () => number,
  ) {}

  async get(key: string): Promise<Value> {
    for (;;) {
      const entry = this.recent(key) ?? this.begin(key);
      const value = await entry.value;
      // What was dropped during the read may be the state from before the change.
      if (!entry.isDropped) return value;
    }
  }

  /** The value where it is known without a read. */
  known(key: string): Value | undefined {
    return this.recent(key)?.result;
  }

  /** The value has changed: the next `get` reads it. */
  drop(key: string): void {
    const entry = this.entries.peek(key);
    if (entry === undefined) return;
    entry.isDropped = true;
    this.entries.delete(key);
  }

  private recent(key: string): Entry<Value> | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && this.elapsed() - entry.startedAt < MAX_AGE_MS ? entry : undefined;
  }

  private begin(key: string): Entry<Value> {
    const entry: Entry<Value> = { startedAt: this.elapsed(), value: this.read(key), isDropped: false };
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
