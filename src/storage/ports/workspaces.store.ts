import type { CloudChange, Role } from '@patchbay/protocol';

export interface MemberRecord {
  userId: string;
  role: Role;
  addedAt: number;
}

/** A workspace with its members: one aggregate, guarded by `version`. */
export interface WorkspaceRecord {
  id: string;
  name: string;
  /** The server's tools whose calls a person is asked about. */
  approvals: CloudChange[];
  createdAt: number;
  /** userId of who made it. */
  createdBy: string;
  version: number;
  /** They come back in the order in which they were given. */
  members: MemberRecord[];
}

/** A workspace as it is shown to one of its members: without the others. */
export interface WorkspaceSummary extends Pick<
  WorkspaceRecord,
  'id' | 'name' | 'approvals' | 'createdAt' | 'createdBy'
> {
  /** The member's. */
  role: Role;
  /** userIds of the owners, those first who have been members for longest, ten at most. */
  owners: string[];
}

/** That a member was removed, or has left. */
export interface Removal {
  workspaceId: string;
  userId: string;
  /** Who removed the member; themselves, where they left. */
  byUserId: string;
  removedAt: number;
}

/** Workspaces and who belongs to them. An insert that is sent again changes nothing more. */
export abstract class WorkspaceStore {
  abstract insert(workspace: WorkspaceRecord): Promise<void>;
  /**
   * Stores the record as version `expectedVersion + 1`; false where another write was faster. The same save again is
   * true while no other has followed it. `removal`: the member that this save removes. It is kept, in the place of an
   * earlier one of the same user, until it is `settled`.
   */
  abstract save(workspace: WorkspaceRecord, expectedVersion: number, removal?: Removal): Promise<boolean>;
  /** Up to `limit` removals that are not settled yet: what those members have begun may still go on. */
  abstract unsettled(limit: number): Promise<Removal[]>;
  /** Nothing that the member had begun goes on; a later removal of the same user stays. */
  abstract settled(removal: Removal): Promise<void>;
  abstract byId(id: string): Promise<WorkspaceRecord | null>;
  /** The workspace for this member; null for a stranger, and where there is none. */
  abstract summaryOf(workspaceId: string, userId: string): Promise<WorkspaceSummary | null>;
  /**
   * Up to `limit` workspaces that a user belongs to: those that the user made before the others, each oldest first; after
   * the workspace `afterId` where it is given.
   */
  abstract summariesOf(userId: string, afterId: string | null, limit: number): Promise<WorkspaceSummary[]>;
  /** The tools whose calls a person is asked about; null where there is no such workspace. Asked for every turn. */
  abstract approvalsOf(workspaceId: string): Promise<CloudChange[] | null>;
  /** Of how many workspaces that the one made the other is a member; with the same id twice: of how many of one's own. */
  abstract countMadeBy(makerId: string, memberId: string): Promise<number>;
  /** The user's role, null for a stranger and for a workspace that does not exist. Asked on every request. */
  abstract roleOf(workspaceId: string, userId: string): Promise<Role | null>;
}
