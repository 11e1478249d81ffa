import { LRUCache } from 'lru-cache';

/** Bytes of responses that are cached. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** Smaller responses are cheaper to rebuild than to cache. */
const SMALL_BYTES = 16 * 1024;

/** Response bodies by key: concurrent requests share one build, and large bodies are cached. */
export class ResponseCache<T extends { body: Buffer }> {
  private readonly making = new Map<string, Promise<T>>();
  private readonly cached = new LRUCache<string, T>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ body }) => body.length,
  });

  /** Returns the cached response of the key, or builds it with `make`. */
  of(key: string, make: () => Promise<T>): Promise<T> {
    const cached = this.cached.get(key);
    if (cached) return Promise.resolve(cached);
    const pending = this.making.get(key);
    if (pending) return pending;
    const made = make()
      .then((response) => {
        if (response.body.length >= SMALL_BYTES) this.cached.set(key, response);
        return response;
      })
      .finally(() => this.making.delete(key));
    this.making.set(key, made);
    return made;
  }
}
