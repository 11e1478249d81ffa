import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { removeLeftOvers } from '../partial-file.js';
import { BackupError } from '../ports/backups.js';
import { copyDatabase, inspectDatabase } from './copy-database.js';
import { DATABASE_FILE } from './data-lock.js';
import { SqliteDatabase } from './database.js';
import { asReader } from './readers.js';

const FOLDER = 'patchbay.copy-';

/** @param folder holds the copy, and is removed with it. */
type Work<T> = (database: SqliteDatabase, folder: string) => Promise<T>;

/** Works on a copy of one state of a data directory, even while a server runs. BackupError if there is no data. */
export function snapshotOf<T>(dataDir: string, work: Work<T>): Promise<T> {
  const directory = withData(resolve(dataDir));
  const file = join(directory, DATABASE_FILE);
  const copyTo = (copy: string) => asReader(directory, () => copyDatabase(file, copy));
  return withCopy(directory, `The data directory ${directory}`, copyTo, work);
}

/** Same as `snapshotOf` for a backup. */
export function copyOfBackup<T>(file: string, work: Work<T>): Promise<T> {
  const backup = resolve(file);
  return withCopy(dirname(backup), backup, (copy) => copyDatabase(backup, copy), work);
}

/** Returns the directory; BackupError if it has no data. */
export function withData(directory: string): string {
  if (existsSync(join(directory, DATABASE_FILE))) return directory;
  throw new BackupError(`${directory} holds no data of a Patchbay server`);
}

async function withCopy<T>(
  beside: string,
  name: string,
  copyTo: (copy: string) => void,
  work: Work<T>,
): Promise<T> {
  removeLeftOvers(beside, FOLDER);
  const folder = mkdtempSync(join(beside, `${FOLDER}${process.pid}-`));
  try {
    const copy = join(folder, DATABASE_FILE);
    copyTo(copy);
    inspectDatabase(copy, name);
    const database = SqliteDatabase.open(folder);
    try {
      return await work(database, folder);
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
