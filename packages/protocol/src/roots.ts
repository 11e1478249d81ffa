/** A member's view of a folder, from the last reports of their own clients. */
export interface FolderPresence {
  /** Displayed name: the folder's paths begin with it. */
  name: string;
  /** `name`, folded. */
  docPath: string;
  /** Whether a client of the member has it connected. */
  connected: boolean;
  /** When it was connected, or last seen with a client of the member; null: never. */
  since: string | null;
  /**
   * docPaths of files that were changed on both sides, or here into something that is never sent (too large, not
   * text, a link): not overwritten until a person decides.
   */
  conflicts: string[];
  /** docPaths of files whose Cloud version the folder lacks, or that it has not deleted. */
  behind: string[];
  /** Number of further files in both lists. */
  more: number;
}

/** A folder of the workspace as a member sees it. Its name belongs to the folder that was connected first. */
export interface WorkspaceRoot extends FolderPresence {
  /** A UUID that stays the same for the folder. */
  rootId: string;
}

/** Body of `PUT …/roots/:docPath`. */
export interface RootRequest {
  /** One component of a path; its folded form is the docPath. */
  name: string;
  /** A UUID that stays the same for the folder. */
  rootId: string;
}

/** One of the caller's own clients, from `GET …/clients`: connected ones first. */
export interface ClientPresence {
  clientId: string;
  /** The name from its handshake. */
  name: string;
  connected: boolean;
  /** When it connected, or was last seen. */
  since: string;
  /** Names of the folders that it announced last. */
  roots: string[];
}
