import type { ErrorCode } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import type { Job, WorkOrder } from './job.js';

/** The outcome of a job on a worker. A DomainError crosses as plain data: a structured clone keeps only the message. */
export type WorkOutcome =
  | { ok: true; value: unknown }
  | { ok: false; code: ErrorCode; message: string; extras: DomainError['extras'] };

/** Runs an order with the job of its name; a DomainError becomes its outcome. */
export function runOrder(jobs: ReadonlyMap<string, Job<never, unknown>>, order: WorkOrder): WorkOutcome {
  const job = jobs.get(order.job);
  if (job === undefined) throw new Error(`src/worker.ts does not know the job ${order.job}`);
  try {
    return { ok: true, value: job.run(order.input as never) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { ok: false, code: error.code, message: error.message, extras: error.extras };
  }
}
