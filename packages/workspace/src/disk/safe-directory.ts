/** An open folder below a root. What is done through `entry` happens in this very folder, wherever its path leads by now. */
export interface SafeDirectory {
  /** A path to an entry of this folder, for system calls. */
  entry(name: string): string;
  /**
   * Opens a folder in this one; null where there is none.
   * @throws WorkspaceFault InvalidPath for a link, DirectoryCreateFailed for what is no folder
   */
  child(name: string): Promise<SafeDirectory | null>;
  /** @throws WorkspaceFault InvalidPath where `entry` no longer reaches the folder that was opened. */
  verify(): Promise<void>;
  /** Makes its entries durable, where the system can. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
