import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Libsql from 'libsql';
import { DomainError } from '../../common/domain-error.js';
import { DataDirectoryInUseError } from './errors.js';
import { GroupCommit } from './group-commit.js';
import { migrate } from './migrate.js';
import { checkParameters, type SqlValue } from './values.js';

/** Name of the database's file in the data directory. */
export const DATABASE_FILE = 'patchbay.db';

/**
 * The embedded database: one file, one connection, one writer. Reads are synchronous and see what is committed;
 * writes go through `write`, which commits them in groups.
 */
export class SqliteDatabase {
  private readonly statements = new Map<string, Libsql.Statement>();
  private readonly group: GroupCommit;
  private closed = false;

  private constructor(private readonly connection: Libsql.Database) {
    this.group = new GroupCommit({
      get inTransaction() {
        return connection.inTransaction;
      },
      execute: (sql) => void this.prepared(sql).run([]),
    });
  }

  /** Opens, creates or upgrades the database of a data directory, and holds it until `close` or the process's end. */
  static open(directory: string): SqliteDatabase {
    const path = resolve(directory);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const file = join(path, DATABASE_FILE);
    createFile(file);
    const connection = new Libsql(file);
    try {
      lock(connection);
      migrate(connection, file);
    } catch (error) {
      connection.close();
      throw isBusy(error) ? new DataDirectoryInUseError(path) : error;
    }
    return new SqliteDatabase(connection);
  }

  /** Transactions committed since the database was opened. */
  get commits(): number {
    return this.group.commits;
  }

  /** The first row, as an array of its columns; null where there is none. */
  get<Row extends SqlValue[]>(sql: string, parameters: readonly SqlValue[] = []): Row | null {
    checkParameters(parameters);
    return (this.open(sql).get(parameters) as Row | undefined) ?? null;
  }

  /** Every row, as arrays of their columns. */
  all<Row extends SqlValue[]>(sql: string, parameters: readonly SqlValue[] = []): Row[] {
    checkParameters(parameters);
    return this.open(sql).all(parameters) as Row[];
  }

  /** Runs a statement that returns no rows; only inside a job of `write`. */
  run(sql: string, parameters: readonly SqlValue[] = []): Libsql.RunResult {
    if (!this.group.active) throw new Error('A write belongs into a job of write().');
    checkParameters(parameters);
    return this.open(sql).run(parameters);
  }

  /**
   * Queues a synchronous job of reads and runs. The jobs of one event-loop turn share one transaction, a job that
   * throws undoes only its own runs. Resolves with the job's value after the commit; rejects if nothing was kept.
   */
  write<T>(job: () => T): Promise<T> {
    if (this.closed) return Promise.reject(closedError());
    return this.group.add(job);
  }

  /** Commits what is queued, folds the log into the one file, and gives the data directory free. */
  close(): void {
    if (this.closed) return;
    this.group.flush();
    this.closed = true;
    this.statements.clear();
    try {
      this.connection.exec('PRAGMA journal_mode=DELETE');
    } finally {
      // The connection lives until its last statement is collected, so closing it alone would keep the lock.
      this.connection.exec('PRAGMA locking_mode=NORMAL');
      this.connection.prepare('SELECT count(*) FROM sqlite_schema').get([]);
      this.connection.close();
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

/**
 * Creates the file with its mode, which SQLite gives to the log too. An existing file must not be opened, not even
 * to look: closing any descriptor of it drops the locks that this process holds on it.
 */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Takes the file for this connection alone; the operating system drops the lock with the process. */
function lock(connection: Libsql.Database): void {
  connection.exec('PRAGMA locking_mode=EXCLUSIVE');
  connection.exec('PRAGMA journal_mode=WAL');
  connection.exec('PRAGMA synchronous=FULL');
  connection.exec('PRAGMA cache_size=-32000');
  connection.exec('PRAGMA journal_size_limit=67108864');
  connection.exec('BEGIN EXCLUSIVE; COMMIT');
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

function closedError(): DomainError {
  return new DomainError('UNAVAILABLE', 'The server is stopping.');
}
