import { existsSync, rmSync, statSync } from 'node:fs';
import Libsql from 'libsql';
import { type BackupContents, BackupError } from '../ports/backups.js';
import { sqliteCode } from './errors.js';
import { checkSchema } from './open-schema.js';
import { createPrivateFile } from './private-file.js';

const BUSY_MS = 10_000;
const COUNTED = {
  users: 'count(*) FROM users',
  workspaces: 'count(*) FROM workspaces',
  turns: 'count(*) FROM turns',
  files: 'count(*) FROM files',
  versions: 'count(*) FROM file_versions',
  events: 'coalesce(sum(last_seq - seq + 1), 0) FROM trail',
};

/**
 * Copies a database that may be written meanwhile, by SQLite's VACUUM INTO: it reads one committed state and blocks
 * nobody. Folds the log in afterwards, so that the server need not.
 */
export function copyDatabase(from: string, to: string): void {
  createPrivateFile(to);
  const source = openExisting(from);
  try {
    const wasClosed = journalMode(source) === 'delete';
    // In this mode a server may start meanwhile.
    if (wasClosed) tryTo(() => source.exec('PRAGMA journal_mode=WAL'));
    source.prepare('VACUUM INTO ?').run([to]);
    tryTo(() => source.exec('PRAGMA wal_checkpoint(PASSIVE)'));
    if (wasClosed) tryTo(() => source.exec('PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE'));
  } catch (error) {
    throw new BackupError(`${from} can't be copied to ${to}: ${reasonOf(error)}`);
  } finally {
    source.close();
  }
}

/** Folds the log into the one file, if nobody else has it open and it is sound. */
export function foldLog(file: string): void {
  const database = openExisting(file);
  tryTo(() => database.exec('PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE'));
  database.close();
}

/**
 * Reads a database completely; BackupError if it is damaged or not ours.
 * @param name what an error names
 */
export function inspectDatabase(file: string, name = file): BackupContents {
  const database = openExisting(file);
  try {
    const faults = database.prepare('PRAGMA integrity_check').raw().all([]) as [string][];
    if (faults.length !== 1 || faults[0]![0] !== 'ok')
      throw new BackupError(`${name} is damaged: ${faults.map(([fault]) => fault).join('; ')}`);
    const count = (sql: string): number => (database.prepare(sql).raw().get([]) as [number])[0];
    const schemaVersion = checkSchema(database, name);
    const counts = Object.entries(COUNTED).map(
      ([name, counted]) => [name, count(`SELECT ${counted}`)] as const,
    );
    const contents = Object.fromEntries(counts) as Record<keyof typeof COUNTED, number>;
    return { bytes: statSync(file).size, schemaVersion, ...contents };
  } catch (error) {
    if (sqliteCode(error) === '') throw error;
    throw new BackupError(`${name} is damaged, or no database of Patchbay's: ${reasonOf(error)}`);
  } finally {
    database.close();
  }
}

/** SQLite would create a missing file. */
function openExisting(file: string): Libsql.Database {
  if (!existsSync(file)) throw new BackupError(`${file} is not there`);
  return new Libsql(file, { timeout: BUSY_MS });
}

/** Removes a copy and the files that SQLite may have put beside it. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

function journalMode(database: Libsql.Database): string {
  return (database.prepare('PRAGMA journal_mode').raw().get([]) as [string])[0];
}

/** Runs optional work and ignores its errors. */
function tryTo(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (sqliteCode(error) === '') throw error;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
