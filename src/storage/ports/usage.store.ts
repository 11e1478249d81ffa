/** What a workspace, or a user over all workspaces, has in the store. */
export interface Usage {
  /** Contents of files, each once a workspace; lists of Active Files; sessions' choices of tools. */
  bytes: number;
  /** Live files, and folders that were made. */
  files: number;
  /** Versions of all files, also of deleted ones; a folder that was ever made counts as one. */
  versions: number;
  sessions: number;
}

/**
 * How much there is, counted while it is written: nobody adds it up on a request. Bytes count for who brought them first,
 * a version for its author, a file or folder for its holder, a session for its user.
 *
 * Counts follow from what the other stores hold, and limit it softly: a backend that can not count in the same atomic
 * write counts after it, and a crash in between leaves a count wrong until `patchbay-admin check --repair` counts again.
 */
export abstract class UsageStore {
  /** Of a workspace; zero of whatever has nothing yet. */
  abstract ofWorkspace(workspaceId: string): Promise<Usage>;
  /**
   * Of a user, in the workspaces that they made or are a member of now. What a former member left in a workspace does
   * not count for them, since they can not delete it; its bytes count for the user who made the workspace.
   */
  abstract ofUser(userId: string): Promise<Usage>;
}
