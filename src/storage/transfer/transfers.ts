import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { fromDatabase, intoDatabase } from '../mongo/transfer-database.js';
import { refuseOwnName } from '../sqlite/backups.js';
import { fromDirectory, intoDirectory } from '../sqlite/transfer-directory.js';
import { type Counts, exportLines } from './export.js';
import { readExport, STANDARD, writeExport } from './export-file.js';
import { importLines } from './import.js';
import type { ReportProgress } from './progress.js';
import { ExportFileError } from './records.js';
import { nameDatabase } from './shown-uri.js';
import type { RecordSource, RecordTarget } from './store.js';

export { STANDARD };
export { KINDS } from './records.js';

/** Where the data is: in a data directory, or in a database if `uri` is not null. */
export interface Place {
  dataDir: string;
  uri: string | null;
}

/**
 * Exports all data into a new file, or to stdout if `file` is `-`. A data directory may be in use; a database must
 * not be written meanwhile. On failure nothing remains.
 */
export async function exportTo(
  { dataDir, uri }: Place,
  file: string,
  report: ReportProgress,
  signal: AbortSignal,
): Promise<Counts> {
  if (uri === null && file !== STANDARD) refuseOwnName(dataDir, file);
  const from = (store: string) => async (source: RecordSource, schemaVersion: number) => {
    const counts: Counts = new Map();
    await writeExport(
      file,
      exportLines(source, { store, schemaVersion }, counts, untilAborted(report, signal)),
      signal,
    );
    return counts;
  };
  if (uri === null) return fromDirectory(dataDir, from('embedded'));
  return nameDatabase(uri, () => fromDatabase(uri, from('mongodb')));
}

/** Fills an empty store with an export, from a file or stdin, and verifies it. On failure nothing remains. */
export async function importFrom(
  { dataDir, uri }: Place,
  file: string,
  report: ReportProgress,
  signal: AbortSignal,
): Promise<Counts> {
  if (file !== STANDARD) await access(file, constants.R_OK);
  const into = async (target: RecordTarget) => {
    try {
      return await importLines(readExport(file, signal), target, untilAborted(report, signal));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ExportFileError)
        throw new ExportFileError(`${file}: ${error.message}`, { cause: error });
      throw error;
    }
  };
  if (uri === null) return intoDirectory(dataDir, into);
  return nameDatabase(uri, () => intoDatabase(uri, into));
}

/** Progress is reported for every record, so an abort stops the work there. */
function untilAborted(report: ReportProgress, signal: AbortSignal): ReportProgress {
  return (...progress) => {
    signal.throwIfAborted();
    report(...progress);
  };
}
