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
  /** The server tools whose calls need a person's approval. */
  approvals: CloudChange[];
  createdAt: number;
  /** userId of its creator. */
  createdBy: string;
  version: number;
  /** In the order in which they were given. */
  members: MemberRecord[];
}

/** A workspace as shown to one of its members: without the others. */
export interface WorkspaceSummary extends Pick<
  WorkspaceRecord,
  'id' | 'name' | 'approvals' | 'createdAt' | 'createdBy'
> {
  /** The member's role. */
  role: Role;
  /** userIds of up to ten owners, those who have been members for longest first. */
  owners: string[];
}

/** A member was removed, or has left. */
export interface Removal {
  workspaceId: string;
  userId: string;
  /** Who removed the member; the member if they left. */
  byUserId: string;
  removedAt: number;
}

/** Workspaces and their members. Inserts are idempotent. */
export abstract class WorkspaceStore {
  abstract insert(workspace: WorkspaceRecord): Promise<void>;
  /**
   * Stores the record as version `expectedVersion + 1`; false if another write came first. A repeated save returns
   * true until another follows. `removal`: the member that this save removes; it replaces an earlier one of the same
   * user, and is kept until it is `settled`.
   */
  abstract save(workspace: WorkspaceRecord, expectedVersion: number, removal?: Removal): Promise<boolean>;
  /** Up to `limit` unsettled removals: work that those members began may still be running. */
  abstract unsettled(limit: number): Promise<Removal[]>;
  /** Nothing that the member began is running; a later removal of the same user stays. */
  abstract settled(removal: Removal): Promise<void>;
  abstract byId(id: string): Promise<WorkspaceRecord | null>;
  /** The workspace for this member; null for anybody else, and if there is none. */
  abstract summaryOf(workspaceId: string, userId: string): Promise<WorkspaceSummary | null>;
  /** Up to `limit` workspaces of a user, after `afterId`: those they created first, each group oldest first. */
  abstract summariesOf(userId: string, afterId: string | null, limit: number): Promise<WorkspaceSummary[]>;
  /** The tools whose calls need a person's approval; null for an unknown workspace. Read for every turn. */
  abstract approvalsOf(workspaceId: string): Promise<CloudChange[] | null>;
  /** Number of workspaces created by one user of which another is a member; equal ids count a user's own. */
  abstract countMadeBy(makerId: string, memberId: string): Promise<number>;
  /** The user's role; null for anybody else, and for an unknown workspace. Read for every request. */
  abstract roleOf(workspaceId: string, userId: string): Promise<Role | null>;
}
