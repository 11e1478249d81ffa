/** What group commit needs of a connection. */
export interface Transactions {
  readonly inTransaction: boolean;
  execute(sql: string): void;
  /** Called after a transaction was rolled back. */
  rolledBack(): void;
}

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Runs in a transaction of its own, since one of its group has failed. */
  alone?: true;
}

type Outcome = { value: unknown } | { error: unknown };

/** Jobs are started for this long in one transaction, ms; other work runs before the next ones. */
const SLICE_MS = 20;

/**
 * Lets the writes of one event-loop turn share a transaction and its fsync. Each fails alone: a group with a job that
 * failed in the middle of its writes is rolled back, and its jobs run again, one by one.
 */
export class GroupCommit {
  private queue: Job[] = [];
  private scheduled = false;
  private running = false;
  private committed = 0;
  /** Statements that jobs have run. */
  private runs = 0;

  constructor(private readonly connection: Transactions) {}

  /** Transactions committed so far. */
  get commits(): number {
    return this.committed;
  }

  /** Whether a job is running, so that a write would be part of its transaction. */
  get active(): boolean {
    return this.running;
  }

  /** Call it before each statement of a job that may write. */
  noteRun(): void {
    this.runs += 1;
  }

  /** Queues a synchronous job; resolves with its result after the commit. */
  add<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work, resolve: resolve as Job['resolve'], reject });
      this.schedule();
    });
  }

  /** Commits everything queued, now. */
  flush(): void {
    while (this.queue.length > 0) this.commit(Infinity);
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.commit(SLICE_MS);
      if (this.queue.length > 0) this.schedule();
    });
  }

  /** Commits the queued jobs that start within `withinMs`. */
  private commit(withinMs: number): void {
    const waiting = this.queue;
    if (waiting.length === 0) return;
    this.queue = [];
    const done: Job[] = [];
    let outcomes: Outcome[] | null = null;
    let failure: unknown;
    try {
      outcomes = this.transact(waiting, done, withinMs);
    } catch (error) {
      failure = error;
    }
    // Jobs queued by the jobs themselves come after those queued before.
    this.queue = [...waiting.slice(done.length), ...this.queue];
    // Which job has failed matters to that one alone: each gets a transaction of its own.
    if (failure instanceof JobFailed && done.length > 1) {
      for (const job of done) job.alone = true;
      this.queue = [...done, ...this.queue];
      return;
    }
    if (failure instanceof JobFailed) failure = failure.cause;
    done.forEach((job, i) => {
      const outcome = outcomes === null ? { error: failure } : outcomes[i]!;
      if ('error' in outcome) job.reject(outcome.error);
      else job.resolve(outcome.value);
    });
  }

  /** Runs jobs in one transaction; `done` receives the started ones, at least the first. */
  private transact(jobs: readonly Job[], done: Job[], withinMs: number): Outcome[] {
    this.running = true;
    const until = performance.now() + withinMs;
    const outcomes: Outcome[] = [];
    try {
      this.rollBack();
      this.connection.execute('BEGIN IMMEDIATE');
      for (const job of jobs) {
        if (done.length > 0 && (job.alone || done[0]!.alone || performance.now() >= until)) break;
        done.push(job);
        outcomes.push(this.attempt(job));
      }
      this.connection.execute('COMMIT');
      this.committed += 1;
      return outcomes;
    } catch (error) {
      if (done.length === 0) done.push(jobs[0]!);
      this.rollBack();
      this.connection.rolledBack();
      throw error;
    } finally {
      this.running = false;
    }
  }

  /** A failing disk may fail here too; the jobs get the original error. */
  private rollBack(): void {
    try {
      if (this.connection.inTransaction) this.connection.execute('ROLLBACK');
    } catch {
      // It is retried before the next transaction.
    }
  }

  /** A job that fails before it has written anything leaves the transaction as it was. */
  private attempt(job: Job): Outcome {
    const runs = this.runs;
    try {
      return { value: job.work() };
    } catch (error) {
      // A full disk or an I/O error ends the whole transaction.
      if (this.runs !== runs || !this.connection.inTransaction) throw new JobFailed(error);
      return { error };
    }
  }
}

/** A job failed in the middle of its writes. */
class JobFailed extends Error {
  constructor(override readonly cause: unknown) {
    super('A job failed in the middle of its writes.');
  }
}
