import { checkRecords, type RepairUsage } from './check-records.js';
import { Findings } from './findings.js';
import { nameDatabase } from './shown-uri.js';
import { checkDatabase } from '../mongo/check-database.js';
import type { RecordSource } from './store.js';
import type { Kind } from './records.js';
import { checkBackup, checkDirectory, repairDirectory } from '../sqlite/check-directory.js';

/** The findings of a check, and how much it has checked. */
export interface Checked {
  counts: Map<Kind, number>;
  findings: Findings;
}

/**
 * Checks a data directory, even while a server runs; BackupError if there is none.
 * @param isRepair corrects wrong usage counts; then no server may run
 */
export function ofDirectory(dataDir: string, isRepair = false): Promise<Checked> {
  return checked((findings, checkStore) =>
    isRepair ? repairDirectory(dataDir, findings, checkStore) : checkDirectory(dataDir, findings, checkStore),
  );
}

/** Checks a backup. */
export function ofBackup(file: string): Promise<Checked> {
  return checked((findings, checkStore) => checkBackup(file, findings, checkStore));
}

/**
 * Checks a database, whether servers run on it or not. TransferError, or a database error without its password.
 * @param isRepair corrects wrong usage counts
 */
export function ofDatabase(uri: string, isRepair = false): Promise<Checked> {
  return nameDatabase(uri, () =>
    checked((findings, checkStore) =>
      checkDatabase(uri, findings, Date.now(), (source, repair) =>
        checkStore(source, isRepair ? repair : null),
      ),
    ),
  );
}

type CheckStore = (source: RecordSource, repair?: RepairUsage | null) => Promise<Map<Kind, number>>;

async function checked(
  open: (findings: Findings, checkStore: CheckStore) => Promise<Map<Kind, number>>,
): Promise<Checked> {
  const findings = new Findings();
  const counts = await open(findings, (source, repair) =>
    checkRecords(source, findings, Date.now(), repair ?? null),
  );
  return { counts, findings };
}
