/**
 * Up to this size linear work stays on the calling thread, since a hop to a worker would block the event loop for
 * longer. `bench/work-hop.mjs` measures the break-even.
 */
export const INLINE_BYTES = 64 * 1024;

/**
 * A kind of work that can take more than about 10 ms. It is pure, its file imports no framework, store or socket, and
 * `src/worker.ts` registers it. Input and output are structured clones: texts, bytes and plain objects.
 */
export interface Job<Input, Output> {
  /** Identifies the job between threads. */
  readonly name: string;
  /** Input up to this size runs synchronously on the calling thread. */
  readonly inlineBytes: number;
  /** Does the work. A DomainError that it throws reaches the caller. */
  readonly run: (input: Input) => Output;
}

/**
 * The load of a job that does more than one pass over its input. `work` is its equivalent in bytes of one pass; much
 * work goes to a worker even if its input is small.
 */
export function weightedLoad(bytes: number, work: number): { bytes: number } {
  return { bytes: work > INLINE_BYTES ? Math.max(bytes, INLINE_BYTES + 1) : bytes };
}

/** Declares a job. Choose a smaller `inlineBytes` if it does more than a pass or two over its input. */
export function defineJob<Input, Output>(
  name: string,
  run: (input: Input) => Output,
  inlineBytes = INLINE_BYTES,
): Job<Input, Output> {
  return { name, inlineBytes, run };
}

/** The message that starts a job on a worker. */
export interface WorkOrder {
  job: string;
  input: unknown;
}
