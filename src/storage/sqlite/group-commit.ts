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

/**
 * Lets the writes of one event-loop turn share a transaction, and so its fsync. Each fails alone; none is
 * answered before the commit.
 */
export class GroupCommit {
  private queue: Job[] = [];
  private running = false;
  private committed = 0;

  constructor(private readonly connection: Transactions) {}

  /** Transactions committed so far. */
  get commits(): number {
    return this.committed;
  }

  /** Whether a job is running now, that is, whether a write would be part of a transaction. */
  get active(): boolean {
    return this.running;
  }

  /** Queues a synchronous job; resolves with what it returned once that is committed. */
  add<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.queue.push({ work, resolve: resolve as Job['resolve'], reject }) === 1) {
        setImmediate(() => this.flush());
      }
    });
  }

  /** Commits what is queued, now. */
  flush(): void {
    const jobs = this.queue;
    this.queue = [];
    if (jobs.length === 0) return;
    let outcomes: Outcome[];
    try {
      outcomes = this.transact(jobs);
    } catch (error) {
      for (const job of jobs) job.reject(error);
      return;
    }
    jobs.forEach((job, i) => {
      const outcome = outcomes[i]!;
      if ('error' in outcome) job.reject(outcome.error);
      else job.resolve(outcome.value);
    });
  }

  private transact(jobs: readonly Job[]): Outcome[] {
    this.running = true;
    try {
      this.connection.execute('BEGIN IMMEDIATE');
      const outcomes = jobs.map((job) => this.attempt(job));
      this.connection.execute('COMMIT');
      this.committed += 1;
      return outcomes;
    } catch (error) {
      if (this.connection.inTransaction) this.connection.execute('ROLLBACK');
      throw error;
    } finally {
      this.running = false;
    }
  }

  private attempt(job: Job): Outcome {
    this.connection.execute('SAVEPOINT job');
    try {
      const value = job.work();
      this.connection.execute('RELEASE job');
      return { value };
    } catch (error) {
      // A full disk or an I/O error ends the whole transaction: then there is no savepoint to go back to.
      if (!this.connection.inTransaction) throw error;
      this.connection.execute('ROLLBACK TO job');
      this.connection.execute('RELEASE job');
      return { error };
    }
  }
}
