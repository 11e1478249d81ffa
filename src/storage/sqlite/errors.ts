/** Two servers on one data directory would each assume to be the only writer, so the second does not start. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';

  constructor(readonly directory: string) {
    super(
      `The data directory ${directory} is in use by another Patchbay server. ` +
        'Stop that one, or give this one a directory of its own (PATCHBAY_DATA_DIR).',
    );
  }
}

/** An incomplete import must not be served. */
export class ImportIncompleteError extends Error {
  override readonly name = 'ImportIncompleteError';

  constructor(directory: string) {
    super(
      `An import into the data directory ${directory} is not complete: give patchbay-admin import again, ` +
        `or remove the folder importing in it.`,
    );
  }
}

/** The code of a SQLite error, such as SQLITE_IOERR_WRITE; empty for other errors. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_') ? code : '';
}

/** Whether another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_BUSY');
}
