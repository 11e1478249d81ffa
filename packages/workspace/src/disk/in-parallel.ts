/** Files that are looked at, or wait for the disk, at the same time. */
export const FILES_AT_ONCE = 8;

/**
 * Works on items, so many at a time, and takes the next only when there is a hand free. The first fault ends it: what
 * is under way is finished, nothing more is begun.
 */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  hands: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let failed = false;
  const hand = async (): Promise<void> => {
    while (!failed) {
      try {
        const next = await source.next();
        if (next.done) return;
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: hands }, hand));
  const fault = ends.find((end) => end.status === 'rejected');
  if (fault) throw fault.reason;
}
