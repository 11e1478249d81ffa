import { LRUCache } from 'lru-cache';

/** Bytes of responses that are kept for the next request. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** A smaller response is made again as fast as it is found. */
const SMALL_BYTES = 16 * 1024;

/** Response bodies by their content: each is made once for all requests at a time, and large ones are kept for a while. */
export class ResponseCache<T extends { body: Buffer }> {
  private readonly making = new Map<string, Promise<T>>();
  private readonly kept = new LRUCache<string, T>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ body }) => body.length,
  });

  /** The response of this key, made by `make` where it is not there. */
  of(key: string, make: () => Promise<T>): Promise<T> {
    const kept = this.kept.get(key);
    if (kept) return Promise.resolve(kept);
    const pending = this.making.get(key);
    if (pending) return pending;
    const made = make()
      .then((response) => {
        if (response.body.length >= SMALL_BYTES) this.kept.set(key, response);
        return response;
      })
      .finally(() => this.making.delete(key));
    this.making.set(key, made);
    return made;
  }
}
