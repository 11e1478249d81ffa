import type { ClientPresence, OpenToolCall, OpenTurn, Workspace } from '@patchbay/protocol';
import type { FolderComparison } from '@patchbay/workspace/sync';

/** An open turn, with those of its calls that are open. */
export interface StatusTurn extends OpenTurn {
  calls: OpenToolCall[];
}

/** What `patchbay status --json` prints. */
export interface Status {
  server: string;
  user: { id: string | null; email: string | null };
  workspace: Workspace;
  clients: ClientPresence[];
  /** Of the caller, oldest first, as many as are looked at. */
  turns: StatusTurn[];
  /** There are more of the caller's. */
  moreTurns: boolean;
  /** How many the other members have, for owners; null for who is none. Counted up to a bound. */
  othersTurns: number | null;
  /** null: not one that was connected, pushed or pulled before. */
  folder: FolderStatus | null;
}

export type FolderStatus = { directory: string; name: string } & (FolderComparison | { fault: string });
