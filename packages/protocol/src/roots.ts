/** What one of the workspace's members has to do with a folder, by what their own clients last said. */
export interface FolderPresence {
  /** As it is shown: its paths begin with it. */
  name: string;
  /** `name`, folded. */
  docPath: string;
  /** A client of theirs has it connected. */
  connected: boolean;
  /** Since when it is connected, or was last seen with a client of theirs; null: it was with none of them. */
  since: string | null;
  /** docPaths of files that were changed on both sides, or here into what is never sent (too large, no text, a link): nothing of them is overwritten until a person decides. */
  conflicts: string[];
  /** docPaths of files whose Cloud text the folder does not have, or has not deleted. */
  behind: string[];
  /** How many more there are of both. */
  more: number;
}

/** A folder of the workspace as one of its members sees it. Its name stands for the one that was connected first. */
export interface WorkspaceRoot extends FolderPresence {
  /** A UUID that stays the same for the folder. */
  rootId: string;
}

/** Body of `PUT …/roots/:docPath`. */
export interface RootRequest {
  /** One component of a path, whose folded form is the docPath. */
  name: string;
  /** A UUID that stays the same for the folder. */
  rootId: string;
}

/** One of the caller's own clients, as `GET …/clients` tells: those that are connected first. */
export interface ClientPresence {
  clientId: string;
  /** As it calls itself in its handshake. */
  name: string;
  connected: boolean;
  /** Since when it is connected, or when it was last seen. */
  since: string;
  /** Names of the folders that it announced last. */
  roots: string[];
}
