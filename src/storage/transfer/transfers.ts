import { fromDatabase, intoDatabase } from '../mongo/transfer-database.js';
import { fromDirectory, intoDirectory } from '../sqlite/transfer-directory.js';
import { type Counts, exportLines } from './export.js';
import { readExport, writeExport } from './export-file.js';
import { importLines } from './import.js';
import type { Tell } from './progress.js';
import { ExportFileError } from './records.js';
import { naming } from './shown-uri.js';
import type { RecordSource, RecordTarget } from './store.js';

export { STANDARD } from './export-file.js';
export { KINDS } from './records.js';

/** Where the data is: in a data directory, or in a database where `uri` is not null. */
export interface Place {
  dataDir: string;
  uri: string | null;
}

/**
 * Writes all data into a new file, or to stdout where `file` is `-`. A data directory may be in use; on a database nobody may
 * write meanwhile. Nothing is left where that fails.
 */
export function exportTo(
  { dataDir, uri }: Place,
  file: string,
  tell: Tell,
  signal: AbortSignal,
): Promise<Counts> {
  const from = (store: string) => async (source: RecordSource, schemaVersion: number) => {
    const counts: Counts = new Map();
    await writeExport(file, exportLines(source, { store, schemaVersion }, counts, tell), signal);
    return counts;
  };
  if (uri === null) return fromDirectory(dataDir, from('embedded'));
  return naming(uri, () => fromDatabase(uri, from('mongodb')));
}

/** Fills an empty store with an export, from a file or stdin, and verifies it. Nothing is left where that fails. */
export function importFrom(
  { dataDir, uri }: Place,
  file: string,
  tell: Tell,
  signal: AbortSignal,
): Promise<Counts> {
  const into = async (target: RecordTarget) => {
    try {
      return await importLines(readExport(file, signal), target, tell);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ExportFileError)
        throw new ExportFileError(`${file}: ${error.message}`, { cause: error });
      throw error;
    }
  };
  if (uri === null) return intoDirectory(dataDir, into);
  return naming(uri, () => intoDatabase(uri, into));
}
