import { checkRecords, type RepairUsage } from './check-records.js';
import { Findings } from './findings.js';
import { naming } from './shown-uri.js';
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
  return checked((findings, look) =>
    isRepair ? repairDirectory(dataDir, findings, look) : checkDirectory(dataDir, findings, look),
  );
}

/** Checks a backup. */
export function ofBackup(file: string): Promise<Checked> {
  return checked((findings, look) => checkBackup(file, findings, look));
}

/**
 * Checks a database, whether servers run on it or not. TransferError, or a database error without its password.
 * @param isRepair corrects wrong usage counts
 */
export function ofDatabase(uri: string, isRepair = false): Promise<Checked> {
  return naming(uri, () =>
    checked((findings, look) =>
      checkDatabase(uri, findings, Date.now(), (source, repair) => look(source, isRepair ? repair : null)),
    ),
  );
}

type Look = (source: RecordSource, repair?: RepairUsage | null) => Promise<Map<Kind, number>>;

async function checked(
  open: (findings: Findings, look: Look) => Promise<Map<Kind, number>>,
): Promise<Checked> {
  const findings = new Findings();
  const counts = await open(findings, (source, repair) =>
    checkRecords(source, findings, Date.now(), repair ?? null),
  );
  return { counts, findings };
}
