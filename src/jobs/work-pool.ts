import { Injectable, Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { DomainError } from '../common/domain-error.js';
import { tenantOf } from '../common/http/client-address.js';
import { Budget, type Excess } from '../limits/budget.js';
import { Config } from '../config/config.js';
import { FairQueue } from '../limits/fair-queue.js';
import { INLINE_BYTES, type Job, type WorkOrder } from './job.js';
import type { WorkOutcome } from './work-outcome.js';

/** An idle worker ends after this time, ms, and frees its memory. */
const IDLE_MS = 30_000;
const MIB = 1024 * 1024;
/** Where the system supports it, workers run at a lower priority than the main thread. */
const NICE_INCREMENT = 5;
const RETRY_AFTER_SECONDS = 1;
const TIMED_OUT = 'time budget';

/** The built file, even if the sources run as TypeScript, which a worker thread could not load. */
const WORKER_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/worker.js' : '../worker.js', import.meta.url),
);

/** The size of a job's input, and which of its buffers are transferred instead of copied. */
export interface Load {
  bytes: number;
  /** The caller must not use them afterwards. A small job does not transfer them. */
  transfer?: ArrayBuffer[];
}

/**
 * Worker threads for work that would block the event loop for more than about 10 ms, behind one fair queue: each
 * owner's jobs in order, owners in turn, and one worker always free for other owners. Workers start on demand.
 */
@Injectable()
export class WorkPool implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger(WorkPool.name);
  private readonly queue: FairQueue;
  private readonly bytes: Budget;
  /** The script of a worker: `src/worker.ts`, or the jobs of a test. */
  protected readonly workerFile: string = WORKER_FILE;
  private workers: Piscina | null = null;
  private stopped = false;

  constructor(private readonly config: Config) {
    const { workers, maxWaitingJobs, maxUserWaitingJobs, maxWorkBytes } = config;
    this.queue = new FairQueue({
      running: workers,
      runningOfKey: Math.max(1, workers - 1),
      waiting: maxWaitingJobs,
      waitingOfKey: maxUserWaitingJobs,
      refuse: tooMuchWork,
    });
    // Much work with a small input counts as small, too.
    this.bytes = new Budget({ bytes: maxWorkBytes, smallBytes: INLINE_BYTES + 1 });
  }

  /**
   * Runs a job for an owner: a user id, or the address of a request without a token. A small job runs at once, a
   * large one on a worker when it is its owner's turn.
   * @throws DomainError TOO_LARGE beyond the size, time or memory limit of a job; RATE_LIMITED if too much is queued;
   * UNAVAILABLE while the server stops; any DomainError of the job.
   */
  async run<Input, Output>(
    owner: string,
    job: Job<Input, Output>,
    input: Input,
    { bytes, transfer = [] }: Load,
  ): Promise<Output> {
    if (bytes <= job.inlineBytes) return job.run(input);
    if (bytes > this.maxJobBytes) throw tooManyBytes(bytes, this.maxJobBytes);
    const reservation = this.bytes.open(owner);
    const excess = reservation.resize(bytes);
    if (excess) throw tooMuchWork(excess);
    try {
      const work = () => this.onWorker({ job: job.name, input }, transfer);
      return (await this.queue.run(tenantOf(owner), work)) as Output;
    } finally {
      reservation.release();
    }
  }

  /** Refuses queued jobs; running ones may continue until the shutdown. */
  onModuleDestroy(): void {
    this.stopped = true;
    this.queue.clear(stopping());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.workers?.destroy();
  }

  /** The size limit of a job, which runs alone if it is that large. */
  private get maxJobBytes(): number {
    return Math.ceil(this.config.maxWorkBytes / 2);
  }

  private async onWorker(work: WorkOrder, transferList: ArrayBuffer[]): Promise<unknown> {
    if (this.stopped) throw stopping();
    const budget = new AbortController();
    const timer = setTimeout(() => budget.abort(TIMED_OUT), this.config.jobMs);
    try {
      this.workers ??= this.startWorkers();
      const outcome = (await this.workers.run(work, {
        transferList,
        signal: budget.signal,
      })) as WorkOutcome;
      if (outcome.ok) return outcome.value;
      throw new DomainError(outcome.code, outcome.message, outcome.extras);
    } catch (error) {
      throw this.failure(work.job, error, budget.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** An exceeded budget ends the worker with its job; the next job gets a new one. */
  private failure(job: string, error: unknown, budget: AbortSignal): DomainError {
    if (error instanceof DomainError) return error;
    if (budget.aborted) return overBudget(`more than ${this.config.jobMs} ms`);
    if (this.stopped) return stopping();
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      return overBudget(`more than ${this.config.workerMemoryMb} MiB of memory`);
    this.logger.error({ err: error, job }, 'A job failed on its worker');
    return new DomainError('INTERNAL_ERROR', 'The work on this request has failed');
  }

  private startWorkers(): Piscina {
    const pool = new Piscina({
      filename: this.workerFile,
      minThreads: 0,
      maxThreads: this.config.workers,
      idleTimeout: IDLE_MS,
      niceIncrement: NICE_INCREMENT,
      recordTiming: false,
      // Jobs need no environment, so they cannot leak it.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.config.workerMemoryMb },
    });
    // A worker died between two jobs; the next job starts another.
    pool.on('error', (error) => this.logger.error(error, 'A worker ended'));
    return pool;
  }
}

function tooMuchWork(excess: Excess): DomainError {
  const message =
    excess === 'owner'
      ? 'Too much of your work waits already; send less at once, or try again later'
      : 'The server has too much work waiting; try again later';
  return new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function tooManyBytes(bytes: number, limit: number): DomainError {
  return overBudget(`${bytes} bytes at once, and ${Math.floor(limit / MIB)} MiB is the most`);
}

function overBudget(need: string): DomainError {
  return new DomainError('TOO_LARGE', `This request takes ${need}; ask for less at once`);
}

function stopping(): DomainError {
  return new DomainError('UNAVAILABLE', 'The server is stopping; try again');
}
