import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type Libsql from 'libsql';
import { Subject } from 'rxjs';
import { DomainError } from '../../common/domain-error.js';
import { connect, withFile } from './connect.js';
import { DATABASE_FILE, DataLock } from './data-lock.js';
import { DiskState } from './disk-state.js';
import { DataDirectoryInUseError, ImportIncompleteError, isBusy } from './errors.js';
import { GroupCommit } from './group-commit.js';
import { openSchema } from './open-schema.js';
import { createPrivateFile } from './private-file.js';
import { ReaderWatch } from './readers.js';
import { DROP_STAGED } from './text-parts.js';
import { checkParameters, type SqlValue } from './values.js';

const BUSY_MS = 1000;
/** Folder of the data directory with what an import has written so far. */
export const IMPORTING = 'importing';

/**
 * The embedded database: one file with one writing connection; a backup may read beside it. Reads are synchronous and
 * see committed data; `write` commits in groups.
 */
export class SqliteDatabase {
  /** Keys of workspaces whose trail has grown, emitted after the commit. */
  readonly grown$ = new Subject<number>();
  private readonly parts = new Map<unknown, unknown>();
  private readonly growing = new Set<number>();
  private readonly rollbackListeners: (() => void)[] = [];
  private readonly statements = new Map<string, Libsql.Statement>();
  private readonly group: GroupCommit;
  private readonly disk = new DiskState();
  private readonly readers: ReaderWatch;
  private isShared = true;
  private closed = false;

  private constructor(
    private readonly connection: Libsql.Database,
    private readonly lock: DataLock,
    /** Absolute path of the data directory. */
    readonly directory: string,
  ) {
    this.group = new GroupCommit({
      get inTransaction() {
        return connection.inTransaction;
      },
      execute: (sql) => void this.prepared(sql).run([]),
      rolledBack: () => {
        this.growing.clear();
        this.rollbackListeners.forEach((listener) => listener());
      },
    });
    this.setShared(false);
    this.readers = new ReaderWatch(directory, (isWanted) => this.setShared(isWanted));
  }

  /** Opens or creates the database of a data directory, and locks it until `close` or the end of the process. */
  static open(directory: string): SqliteDatabase {
    const path = resolve(directory);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const file = join(path, DATABASE_FILE);
    if (!existsSync(file) && existsSync(join(path, IMPORTING))) throw new ImportIncompleteError(path);
    const lock = DataLock.acquire(path);
    createPrivateFile(file);
    const connection = connect(file);
    try {
      connection.exec(`PRAGMA busy_timeout=${BUSY_MS}`);
      openSchema(connection, `The data directory ${path}`);
      setUp(connection);
      connection.exec(DROP_STAGED);
    } catch (error) {
      connection.close();
      lock.release();
      // Another program, such as a shell, has locked it without the lock of the directory.
      throw isBusy(error) ? new DataDirectoryInUseError(path) : withFile(file, error);
    }
    return new SqliteDatabase(connection, lock, path);
  }

  /** Transactions committed since the database was opened. */
  get commits(): number {
    return this.group.commits;
  }

  /** The one instance of a class that remembers what this database has: all who write must use the same. */
  readonly part = <T>(Part: new (database: SqliteDatabase) => T): T => {
    if (!this.parts.has(Part)) this.parts.set(Part, new Part(this));
    return this.parts.get(Part) as T;
  };

  /** The first row as an array of its columns; null if there is none. */
  get<Row extends SqlValue[]>(sql: string, parameters: readonly SqlValue[] = []): Row | null {
    checkParameters(parameters);
    return this.read(() => (this.open(sql).get(parameters) as Row | undefined) ?? null);
  }

  /** Every row as an array of its columns. */
  all<Row extends SqlValue[]>(sql: string, parameters: readonly SqlValue[] = []): Row[] {
    checkParameters(parameters);
    return this.read(() => this.open(sql).all(parameters) as Row[]);
  }

  /** Runs a statement that returns no rows; only inside a job of `write`. */
  run(sql: string, parameters: readonly SqlValue[] = []): Libsql.RunResult {
    if (!this.group.active) throw new Error('A write belongs into a job of write().');
    checkParameters(parameters);
    this.group.noteRun();
    return this.open(sql).run(parameters);
  }

  /** Calls the listener after every rollback: what it remembers of uncommitted writes is no longer so. */
  onRollback(listener: () => void): void {
    this.rollbackListeners.push(listener);
  }

  /**
   * Queues a synchronous job of reads and runs. Jobs of one event-loop turn share a transaction; a job that throws
   * undoes only its own runs, and the others may run again: a job changes nothing but the database. Resolves with the job's value after the commit. Rejects if nothing was kept, with
   * UNAVAILABLE if the disk is full or fails.
   */
  write<T>(job: () => T): Promise<T> {
    if (this.closed) return Promise.reject(closedError());
    return this.group.add(job).then(
      (value) => {
        this.disk.recordSuccess();
        this.emitGrowth();
        return value;
      },
      (error: unknown) => {
        throw this.disk.explain(error);
      },
    );
  }

  /** Call in a job that appends to the trail of a workspace. */
  noteGrowth(workspace: number): void {
    this.growing.add(workspace);
  }

  private emitGrowth(): void {
    if (this.growing.size === 0) return;
    const grown = [...this.growing];
    this.growing.clear();
    for (const workspace of grown) this.grown$.next(workspace);
  }

  /** Commits queued jobs, folds the log into the file, and unlocks the data directory. */
  close(): void {
    if (this.closed) return;
    this.group.flush();
    this.closed = true;
    this.readers.stop();
    this.statements.clear();
    try {
      this.setShared(true);
      this.connection.exec('PRAGMA journal_mode=DELETE');
    } catch (error) {
      // A backup is still reading; the log remains, and the next opener folds it in.
      if (!isBusy(error)) throw error;
    } finally {
      this.connection.close();
      this.lock.release();
    }
  }

  /**
   * Shares the file, or keeps it locked, which saves two system calls per statement. The lock is taken by a write,
   * attempted here: while a reader is active, it is retried at the next look.
   */
  private setShared(isShared: boolean): void {
    if (isShared === this.isShared) return;
    const { connection } = this;
    try {
      connection.exec(`PRAGMA busy_timeout=0; PRAGMA locking_mode=${isShared ? 'NORMAL' : 'EXCLUSIVE'}`);
      connection.exec('BEGIN IMMEDIATE; COMMIT');
      this.isShared = isShared;
    } catch {
      connection.exec('PRAGMA locking_mode=NORMAL');
      this.isShared = true;
    } finally {
      connection.exec(`PRAGMA busy_timeout=${BUSY_MS}`);
    }
  }

  private read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.disk.explain(error);
    }
  }

  private open(sql: string): Libsql.Statement {
    if (this.closed) throw closedError();
    return this.prepared(sql);
  }

  private prepared(sql: string): Libsql.Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.connection.prepare(sql);
      if (statement.reader) statement.raw();
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

function setUp(connection: Libsql.Database): void {
  // The switch to WAL happens with shared locks, so that locks can be given and taken at any time. Others only read.
  connection.exec('PRAGMA journal_mode=WAL');
  connection.exec('PRAGMA synchronous=FULL');
  connection.exec('PRAGMA cache_size=-32000');
  connection.exec('PRAGMA journal_size_limit=67108864');
}

function closedError(): DomainError {
  return new DomainError('UNAVAILABLE', 'The server is stopping.');
}
