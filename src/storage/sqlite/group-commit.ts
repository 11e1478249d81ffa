/** What group commit needs of a connection. */
export interface Transactions {
  readonly inTransaction: boolean;
  execute(sql: string): void;
}

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

type Outcome = { value: unknown } | { error: unknown };

/** Jobs are started for this long in one transaction, ms; other work runs before the next ones. */
const SLICE_MS = 20;

/** Lets the writes of one event-loop turn share a transaction and its fsync. Each fails alone. */
export class GroupCommit {
  private queue: Job[] = [];
  private scheduled = false;
  private running = false;
  private committed = 0;

  constructor(private readonly connection: Transactions) {}

  /** Transactions committed so far. */
  get commits(): number {
    return this.committed;
  }

  /** Whether a job is running, so that a write would be part of its transaction. */
  get active(): boolean {
    return this.running;
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
      done.push(jobs[0]!);
      this.rollBack();
      this.connection.execute('BEGIN IMMEDIATE');
      // A single job needs no savepoint: the rollback of the transaction undoes it.
      outcomes.push(jobs.length === 1 ? { value: jobs[0]!.work() } : this.attempt(jobs[0]!));
      for (let next = 1; next < jobs.length && performance.now() < until; next += 1) {
        done.push(jobs[next]!);
        outcomes.push(this.attempt(jobs[next]!));
      }
      this.connection.execute('COMMIT');
      this.committed += 1;
      return outcomes;
    } catch (error) {
      this.rollBack();
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

  private attempt(job: Job): Outcome {
    this.connection.execute('SAVEPOINT job');
    try {
      const value = job.work();
      this.connection.execute('RELEASE job');
      return { value };
    } catch (error) {
      // A full disk or an I/O error ends the whole transaction: there is no savepoint to return to.
      if (!this.connection.inTransaction) throw error;
      this.connection.execute('ROLLBACK TO job');
      this.connection.execute('RELEASE job');
      return { error };
    }
  }
}
