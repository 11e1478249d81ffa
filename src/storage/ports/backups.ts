/** What a copy of the data holds, counted in it. */
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
  /** Where the data that was there before is now; null where there was none. */
  replaced: string | null;
}

/** What an operator can do something about; its message is for them. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Copies of all data, made and brought back by an operator at the machine that holds the data directory. */
export abstract class Backups {
  /**
   * Writes a consistent copy of all that is committed when it begins, whether a server runs or not; that one goes on.
   * The copy is checked and on the disk before it gets its name. BackupError, and then no file is left.
   * @param force replaces a file of that name.
   */
  abstract backup(dataDir: string, file: string, force: boolean): BackupContents;

  /**
   * Makes a copy the data of a directory, once it was checked. Refused while a server runs there, and where there is
   * data already.
   * @param force puts that aside.
   */
  abstract restore(file: string, dataDir: string, force: boolean): Restored;

  /** Reads a copy from end to end; BackupError where it is damaged, or none. */
  abstract check(file: string): BackupContents;
}
