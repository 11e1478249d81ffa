/** An open folder below a root. Operations on `entry` affect this folder even if its path was replaced. */
export interface SafeDirectory {
  /** A path to an entry of this folder, for system calls. */
  entry(name: string): string;
  /**
   * Opens a subfolder; null if it is missing.
   * @throws WorkspaceFault InvalidPath for a link, DirectoryCreateFailed for anything else that is not a folder
   */
  child(name: string): Promise<SafeDirectory | null>;
  /** @throws WorkspaceFault InvalidPath if `entry` no longer reaches the opened folder. */
  verify(): Promise<void>;
  /** Makes its entries durable, if the system can. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
