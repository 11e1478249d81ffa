/** A folder that somebody has connected: its name stands for it in the whole workspace. */
export interface RootRecord {
  workspaceId: string;
  docPath: string;
  name: string;
  rootId: string;
  /** Who connected it first, and when. */
  userId: string;
  claimedAt: number;
}

/** The folders of a workspace, each under its docPath. */
export abstract class RootStore {
  /** Registers the folder unless its docPath is taken. Gives the folder that stands; the same claim again does, too. */
  abstract claim(root: RootRecord): Promise<RootRecord>;
  /** Takes out this very claim; what has been claimed under its docPath since stays. */
  abstract remove(root: RootRecord): Promise<void>;
  /** By docPath. */
  abstract ofWorkspace(workspaceId: string): Promise<RootRecord[]>;
}
