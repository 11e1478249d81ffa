import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sync } from '../partial-file.js';
import { TransferError } from '../transfer/records.js';
import { chownLike } from './backups.js';
import { DATABASE_FILE, DataLock, LOCK_FILE } from './data-lock.js';
import { IMPORTING, SqliteDatabase } from './database.js';
import { SCHEMA_VERSION } from './schema.js';
import { snapshotOf } from './snapshots.js';
import { SqliteTransferSource } from './transfer-source.js';
import { SqliteTransferTarget } from './transfer-target.js';

/** Reads one state of a data directory, even while a server runs. */
export function fromDirectory<T>(
  dataDir: string,
  work: (source: SqliteTransferSource, schemaVersion: number) => Promise<T>,
): Promise<T> {
  return snapshotOf(dataDir, (database) => work(new SqliteTransferSource(database), SCHEMA_VERSION));
}

/**
 * Fills a data directory that has no data. The work writes into a separate folder that no server opens; it becomes
 * the data once the work is done. On failure nothing remains; remains of killed imports are removed.
 */
export async function intoDirectory<T>(
  dataDir: string,
  work: (target: SqliteTransferTarget) => Promise<T>,
): Promise<T> {
  const directory = resolve(dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = DataLock.acquire(directory);
  const importing = join(directory, IMPORTING);
  try {
    if (existsSync(join(directory, DATABASE_FILE)))
      throw new TransferError(`${directory} holds data already: import into a directory without`);
    rmSync(importing, { recursive: true, force: true });
    try {
      const result = await filled(importing, work);
      const imported = join(importing, DATABASE_FILE);
      chownLike(directory, imported, join(directory, LOCK_FILE));
      sync(imported);
      renameSync(imported, join(directory, DATABASE_FILE));
      sync(directory);
      return result;
    } finally {
      rmSync(importing, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

async function filled<T>(directory: string, work: (target: SqliteTransferTarget) => Promise<T>): Promise<T> {
  const database = SqliteDatabase.open(directory);
  try {
    return await work(new SqliteTransferTarget(database));
  } finally {
    database.close();
  }
}
