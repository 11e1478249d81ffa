/** Bytes of texts that are kept for who asks next. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** A text below this is made again as fast as it is found. */
const SMALL_BYTES = 16 * 1024;

/** Texts by what they say: each is made once for all who ask for it at a time, and large ones are kept for a while. */
export class ResponseCache<T extends { body: Buffer }> {
  private readonly making = new Map<string, Promise<T>>();
  /** In the order of their last use. */
  private readonly kept = new Map<string, T>();
  private bytes = 0;

  /** The text of this key, made by `make` where nobody has. */
  of(key: string, make: () => Promise<T>): Promise<T> {
    const kept = this.kept.get(key);
    if (kept) {
      this.kept.delete(key);
      this.kept.set(key, kept);
      return Promise.resolve(kept);
    }
    const pending = this.making.get(key);
    if (pending) return pending;
    const made = make()
      .then((text) => this.keep(key, text))
      .finally(() => this.making.delete(key));
    this.making.set(key, made);
    return made;
  }

  private keep(key: string, text: T): T {
    const { length } = text.body;
    if (length < SMALL_BYTES || length > KEPT_BYTES) return text;
    this.kept.set(key, text);
    this.bytes += length;
    for (const [oldest, { body }] of this.kept) {
      if (this.bytes <= KEPT_BYTES) break;
      this.kept.delete(oldest);
      this.bytes -= body.length;
    }
    return text;
  }
}
