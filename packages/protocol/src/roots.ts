import type { ClientRoot } from './relay-events.js';

/** A folder of the workspace as one of its members sees it: whoever connected it first, its name is taken by it. */
export interface WorkspaceRoot extends ClientRoot {
  /** A client of the caller's own has it connected. */
  connected: boolean;
  /** Since when it is connected, or was last seen with a client of the caller's; null: with none of them ever. */
  since: string | null;
  /** docPaths of files that were changed on both sides, as its client told last. */
  conflicts: string[];
  /** docPaths of files whose Cloud text the folder does not have, or has not deleted. */
  behind: string[];
  /** How many more there are of both. */
  more: number;
}

/** Body of `PUT …/roots/:docPath`. */
export interface RootRequest {
  /** One component of a path, whose folded form is the docPath. */
  name: string;
  /** A UUID that stays the same for the folder. */
  rootId: string;
}
