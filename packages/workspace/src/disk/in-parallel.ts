/** Number of files processed at the same time. */
export const FILES_AT_ONCE = 8;

/**
 * Processes items with at most `concurrency` at a time and pulls the next item only when a worker is free. After the
 * first error no new item is started; running ones finish.
 */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let failed = false;
  const worker = async (): Promise<void> => {
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
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const fault = ends.find((end) => end.status === 'rejected');
  if (fault) throw fault.reason;
}
