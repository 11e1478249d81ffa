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
  version: number;
  /** They come back in the order in which they were given. */
  members: MemberRecord[];
}

/** Workspaces and who belongs to them. An insert that is sent again changes nothing more. */
export abstract class WorkspaceStore {
  abstract insert(workspace: WorkspaceRecord): Promise<void>;
  /**
   * Stores the record as version `expectedVersion + 1`; false where another write was faster. The same save again is
   * true while no other has followed it.
   */
  abstract save(workspace: WorkspaceRecord, expectedVersion: number): Promise<boolean>;
  abstract byId(id: string): Promise<WorkspaceRecord | null>;
  /** The workspaces that a user belongs to, oldest first. */
  abstract ofUser(userId: string): Promise<WorkspaceRecord[]>;
  /** The user's role, null for a stranger and for a workspace that does not exist. Asked on every request. */
  abstract roleOf(workspaceId: string, userId: string): Promise<Role | null>;
}
