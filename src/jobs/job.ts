/**
 * Up to here linear work stays where it is asked for: a hop to a worker and back would cost the event loop more than it
 * saves. `bench/work-hop.mjs` measures where that line is.
 */
export const INLINE_BYTES = 64 * 1024;

/**
 * A kind of work that can take more than some 10 ms. It is pure, its file imports no framework, store or socket, and
 * `src/worker.ts` knows it. Input and output cross threads as structured clones: texts, bytes and plain objects.
 */
export interface Job<Input, Output> {
  /** Names it between threads. */
  readonly name: string;
  /** Input of at most so many bytes is worked on at once, on the thread that asks. */
  readonly inlineBytes: number;
  /** Does the work. A DomainError that it throws reaches whoever asked. */
  readonly run: (input: Input) => Output;
}

/**
 * How a job's input counts where its work is more than a pass over that: `work` is what it comes to, in bytes that are
 * passed. What is much work goes to a worker, however little it is to carry.
 */
export function weighed(bytes: number, work: number): { bytes: number } {
  return { bytes: work > INLINE_BYTES ? Math.max(bytes, INLINE_BYTES + 1) : bytes };
}

/** Declares a job. Give it a smaller `inlineBytes` where its work is more than a pass or two over its input. */
export function defineJob<Input, Output>(
  name: string,
  run: (input: Input) => Output,
  inlineBytes = INLINE_BYTES,
): Job<Input, Output> {
  return { name, inlineBytes, run };
}

/** What goes to a worker. */
export interface WorkOrder {
  job: string;
  input: unknown;
}
