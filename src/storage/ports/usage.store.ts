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

export const HOUR_MS = 3_600_000;
export const HOURS_OF_DAY = 24;

/** What a call counts beside its arguments and what it gave: its state and what the trail says of it, in bytes. */
export const BYTES_OF_A_CALL = 2048;

/** Bytes of turns that were added in one hour, which is counted from the epoch. */
export interface HourOfBytes {
  hour: number;
  bytes: number;
}

/**
 * How much there is, counted while it is written: nobody adds it up on a request. Bytes count for who brought them first,
 * a version for its author, a file or folder for its holder, a session for its user.
 *
 * Counts follow from what the other stores hold, and limit it softly. A backend that can not count in the same atomic
 * write does it in one after that, and from what it holds again where a crash came in between.
 *
 * Bytes of turns are counted by the hour in which they came, and forgotten after a day: `BYTES_OF_A_CALL` for each call and
 * the arguments of a turn that is stored, results as they are stored, patch batches; by JSON in UTF-8. Here the count after
 * the write may be lost with a crash, or come twice: the bound is wrong by what was in flight then, no turn is.
 */
export abstract class UsageStore {
  /** Of a workspace; zero of whatever has nothing yet. */
  abstract ofWorkspace(workspaceId: string): Promise<Usage>;
  /**
   * Of a user, in the workspaces that they made or are a member of now. What a former member left in a workspace does
   * not count for them, since they can not delete it; its bytes count for the user who made the workspace.
   */
  abstract ofUser(userId: string): Promise<Usage>;
  /** What the members of a workspace have added to its turns since the beginning of an hour, the oldest hour first. */
  abstract turnBytesOfWorkspace(workspaceId: string, sinceHour: number): Promise<HourOfBytes[]>;
  /** What a user has added to turns, in all workspaces, since the beginning of an hour, the oldest hour first. */
  abstract turnBytesOfUser(userId: string, sinceHour: number): Promise<HourOfBytes[]>;
}
