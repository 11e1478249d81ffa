import { join } from 'node:path';
import type Libsql from 'libsql';
import { connect } from './connect.js';
import { createPrivateFile } from './private-file.js';
import { DataDirectoryInUseError, isBusy } from './errors.js';

/** Names of the database file and the lock file in the data directory. */
export const DATABASE_FILE = 'patchbay.db';
export const LOCK_FILE = 'patchbay.lock';

/**
 * Exclusive use of a data directory by one process. SQLite holds it as the lock of an empty database beside the real
 * one, whose own lock is shared with backups. The operating system releases it with the process.
 */
export class DataLock {
  private constructor(private readonly connection: Libsql.Database) {}

  /** Throws DataDirectoryInUseError if another process has it. */
  static acquire(directory: string): DataLock {
    const file = join(directory, LOCK_FILE);
    createPrivateFile(file);
    const connection = connect(file);
    try {
      // A transaction that writes nothing and never ends.
      connection.exec('PRAGMA journal_mode=MEMORY');
      connection.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      connection.close();
      throw isBusy(error) ? new DataDirectoryInUseError(directory) : error;
    }
    return new DataLock(connection);
  }

  release(): void {
    this.connection.exec('ROLLBACK');
    this.connection.close();
  }
}
