/**
 * What keeps a folder and its Cloud files in step, as the tools see it that write into the folder. docPaths with their
 * root's name, sha256s in lowercase hex.
 */
export interface FolderLedger {
  /** Does the work while nothing else of this client sends the files; rejects by `signal` where that comes first. */
  writing<T>(docPaths: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Sends what the disk holds of these files, where the Cloud does not have it: then a patch can be planned on it. */
  bringUp(docPaths: readonly string[]): Promise<void>;
  /** What both sides last had; null where they never were the same. */
  baseOf(docPath: string): string | null;
  /** Whether the Cloud has this text of the file, as its head that this folder knows or beside it: then it may be replaced. */
  isHeld(docPath: string, sha256: string): boolean;
  /** The content is about to be sent, as part of a call. Survives a crash when it resolves. */
  sending(docPath: string, sha256: string): Promise<void>;
  /** Cloud path that a file gets which is new there; `path` is that on the disk, with its root's name. */
  cloudPathOf(path: string): string;
  /** The Cloud has it now, at the Cloud path `there`; `path` is that on the disk, with its root's name. */
  arrived(file: { docPath: string; path: string; sha256: string }, there: string): Promise<void>;
}
