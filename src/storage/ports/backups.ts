/** The number of records in a copy of the data. */
export interface BackupContents {
  /** Size of the copy. */
  bytes: number;
  schemaVersion: number;
  users: number;
  workspaces: number;
  turns: number;
  files: number;
  versions: number;
  events: number;
}

export interface Restored extends BackupContents {
  /** Where the previous data was moved; null if there was none. */
  replaced: string | null;
}

/** An error that an operator can fix; its message is for them. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Copies of all data, made and restored by an operator on the machine with the data directory. */
export abstract class Backups {
  /**
   * Writes a consistent copy of everything committed when it begins, without disturbing a running server. The copy is
   * checked and flushed before it gets its name. On BackupError no file remains.
   * @param force replaces an existing file.
   */
  abstract backup(dataDir: string, file: string, force: boolean): BackupContents;

  /**
   * Checks a copy and makes it the data of a directory. Refused while a server runs there, or if data exists.
   * @param force moves existing data aside.
   */
  abstract restore(file: string, dataDir: string, force: boolean): Restored;

  /** Reads a copy completely; BackupError if it is damaged, or not a backup. */
  abstract check(file: string): BackupContents;
}
