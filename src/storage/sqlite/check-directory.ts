import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RepairUsage } from '../transfer/check-records.js';
import type { Findings } from '../transfer/findings.js';
import { DATABASE_FILE, DataLock } from './data-lock.js';
import { SqliteDatabase } from './database.js';
import { SqliteTransferSource } from './transfer-source.js';
import { copyOfBackup, snapshotOf, withData } from './snapshots.js';
import { setUsage } from './usage-rows.js';

/** Checks the database of a data directory, even while a server runs. BackupError if there is none. */
export function checkDirectory<T>(
  dataDir: string,
  findings: Findings,
  work: (source: SqliteTransferSource) => Promise<T>,
): Promise<T> {
  return snapshotOf(dataDir, (...copy) => checkCopy(copy, findings, work));
}

/** Same as `checkDirectory`, but on the data itself, with a repair. DataDirectoryInUseError while a server runs. */
export async function repairDirectory<T>(
  dataDir: string,
  findings: Findings,
  work: (source: SqliteTransferSource, repair: RepairUsage) => Promise<T>,
): Promise<T> {
  const directory = resolve(dataDir);
  DataLock.acquire(withData(directory)).release();
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

/** Same as `checkDirectory` for a backup. */
export function checkBackup<T>(
  file: string,
  findings: Findings,
  work: (source: SqliteTransferSource) => Promise<T>,
): Promise<T> {
  return copyOfBackup(file, (...copy) => checkCopy(copy, findings, work));
}

function checkCopy<T>(
  [database, folder]: [SqliteDatabase, string],
  findings: Findings,
  work: (source: SqliteTransferSource) => Promise<T>,
): Promise<T> {
  checkStructure(database, join(folder, 'new'), findings);
  return work(new SqliteTransferSource(database));
}

type Part = [type: string, name: string, sql: string];

/** Checks the foreign keys of rows, and compares tables and indexes with those of a new database. */
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
    const existing = new Map(parts(database).map(([type, name, sql]) => [`${type} ${name}`, sql]));
    for (const [type, name, sql] of parts(fresh))
      if (existing.get(`${type} ${name}`) !== sql)
        findings.add('declared', `${type} ${name}: sqlite3 ${DATABASE_FILE} ${JSON.stringify(sql)}`);
  } finally {
    fresh.close();
  }
}
