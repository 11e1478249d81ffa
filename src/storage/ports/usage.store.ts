/** The usage of a workspace, or of a user over all workspaces. */
export interface Usage {
  /** Contents of files, once per workspace; lists of Active Files; the sessions' selected tools. */
  bytes: number;
  /** Live files, and created folders. */
  files: number;
  /** Versions of all files, including deleted ones; every folder ever created counts as one. */
  versions: number;
  sessions: number;
}

/**
 * Usage, counted while data is written instead of summed up per request. Bytes count for their first uploader, a
 * version for its author, a file or folder for its holder, a session for its user. Quotas are soft: a backend that
 * cannot count in the same atomic write counts after it, and a crash in between leaves a wrong count until
 * `patchbay-admin check --repair`.
 */
export abstract class UsageStore {
  /** Usage of a workspace; zero where nothing is stored. */
  abstract ofWorkspace(workspaceId: string): Promise<Usage>;
  /**
   * Usage of a user, in the workspaces that they created or are a member of now. What a former member left in a
   * workspace does not count for them, since they cannot delete it; its bytes count for the workspace's creator.
   */
  abstract ofUser(userId: string): Promise<Usage>;
}

/** Counts what a write has added or removed, for the workspace and a user in it; call it after the write. */
export abstract class UsageCounts {
  abstract count(workspaceId: string, userId: string, more: Partial<Usage>): Promise<void>;
}
