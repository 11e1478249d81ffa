import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { RepairUsage } from '../check/check-records.js';
import type { Findings } from '../check/findings.js';
import { BackupError } from '../ports/backups.js';
import { copyDatabase, inspectDatabase } from './copy-database.js';
import { DATABASE_FILE, DataLock } from './data-lock.js';
import { SqliteDatabase } from './database.js';
import { SqliteMoveSource } from './move-source.js';
import { asReader } from './readers.js';
import { setUsage } from './usage-rows.js';

/** The database of a data directory, whether a server runs there or not. BackupError where there is none. */
export function checkDirectory<T>(
  dataDir: string,
  findings: Findings,
  work: (source: SqliteMoveSource) => Promise<T>,
): Promise<T> {
  const directory = existing(resolve(dataDir));
  const file = join(directory, DATABASE_FILE);
  return onCopy(file, (copy) => asReader(directory, () => copyDatabase(file, copy)), findings, work);
}

/**
 * The same, with a repair for the data itself. DataDirectoryInUseError while a server runs there.
 */
export async function repairDirectory<T>(
  dataDir: string,
  findings: Findings,
  work: (source: SqliteMoveSource, repair: RepairUsage) => Promise<T>,
): Promise<T> {
  const directory = resolve(dataDir);
  DataLock.take(existing(directory)).release();
  return checkDirectory(directory, findings, (source) =>
    work(source, async (difference) => {
      const database = SqliteDatabase.open(directory);
      try {
        return await setUsage(database, difference);
      } finally {
        database.close();
      }
    }),
  );
}

/** The same of a backup. */
export function checkBackup<T>(
  file: string,
  findings: Findings,
  work: (source: SqliteMoveSource) => Promise<T>,
): Promise<T> {
  return onCopy(resolve(file), (copy) => copyDatabase(resolve(file), copy), findings, work);
}

function existing(directory: string): string {
  if (existsSync(join(directory, DATABASE_FILE))) return directory;
  throw new BackupError(`${directory} holds no data of a Patchbay server`);
}

/** Looks at a copy, beside the file: one state of it that nobody changes. */
async function onCopy<T>(
  file: string,
  copyTo: (copy: string) => void,
  findings: Findings,
  work: (source: SqliteMoveSource) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(dirname(file), 'patchbay.checking-'));
  try {
    const copy = join(folder, DATABASE_FILE);
    copyTo(copy);
    inspectDatabase(copy);
    const database = SqliteDatabase.open(folder);
    try {
      checkStructure(database, join(folder, 'new'), findings);
      return await work(new SqliteMoveSource(database));
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Part = [type: string, name: string, sql: string];

/** Holds rows against the tables that they name, and tables and indexes against those of a new database. */
function checkStructure(database: SqliteDatabase, scratch: string, findings: Findings): void {
  for (const [table, row, parent] of database.all<[string, number | null, string, number]>(
    'PRAGMA foreign_key_check',
  ))
    findings.add('structure', `row ${row} of the table ${table} names one of ${parent} that is not there`);
  mkdirSync(scratch);
  const fresh = SqliteDatabase.open(scratch);
  try {
    const parts = (of: SqliteDatabase) =>
      of.all<Part>('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name');
    const there = new Map(parts(database).map(([type, name, sql]) => [`${type} ${name}`, sql]));
    for (const [type, name, sql] of parts(fresh))
      if (there.get(`${type} ${name}`) !== sql)
        findings.add('declared', `${type} ${name}: sqlite3 ${DATABASE_FILE} ${JSON.stringify(sql)}`);
  } finally {
    fresh.close();
  }
}
