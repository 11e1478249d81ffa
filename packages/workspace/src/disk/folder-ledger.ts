/**
 * Keeps a folder in sync with its Cloud files, as seen by the tools that write into the folder. docPaths include the
 * root's name; sha256s are lowercase hex.
 */
export interface FolderLedger {
  /**
   * Runs the work while nothing else of this client sends the files. Rejects with the signal's reason if it aborts
   * first.
   */
  whileWriting<T>(docPaths: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Uploads the local content of these files if the Cloud does not have it, so that a patch can be planned on it. */
  uploadChanged(docPaths: readonly string[]): Promise<void>;
  /** The version that both sides last had; null if they never were the same. */
  baseOf(docPath: string): string | null;
  /**
   * Whether the Cloud has this content of the file, as the known head or as a version beside it. Then it may be
   * replaced.
   */
  isInCloud(docPath: string, sha256: string): boolean;
  /** Records, before the upload of a call, that this content will be sent. Durable when it resolves. */
  noteSending(docPath: string, sha256: string): Promise<void>;
  /** The Cloud path for a new file. `path` is the local path with the root's name. */
  cloudPathOf(path: string): string;
  /** Records that the Cloud now has the content at `cloudPath`. `path` is the local path with the root's name. */
  noteUploaded(file: { docPath: string; path: string; sha256: string }, cloudPath: string): Promise<void>;
}
