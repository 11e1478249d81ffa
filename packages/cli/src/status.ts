import type { ClientPresence, OpenToolCall, OpenTurn, Workspace } from '@patchbay/protocol';
import type { FolderComparison } from '@patchbay/workspace/sync';

/** An open turn with its open calls. */
export interface StatusTurn extends OpenTurn {
  calls: OpenToolCall[];
}

/** The output of `patchbay status --json`. */
export interface Status {
  server: string;
  user: { id: string | null; email: string | null };
  workspace: Workspace;
  clients: ClientPresence[];
  /** Of the caller, oldest first, up to a limit. */
  turns: StatusTurn[];
  /** The caller has more open turns. */
  moreTurns: boolean;
  /** Number of open turns of other members, for owners only (else null). Counted up to a limit. */
  othersTurns: number | null;
  /** Null if the folder was never connected, pushed or pulled. */
  folder: FolderStatus | null;
}

export type FolderStatus = { directory: string; name: string } & (FolderComparison | { fault: string });
