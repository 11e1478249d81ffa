import { Injectable } from '@nestjs/common';
import type { CloudChange, Member, Role, Workspace } from '@patchbay/protocol';
import { normalizeEmail } from '../auth/auth.service.js';
import { Bus } from '../bus/bus.js';
import { Clock, isoTime } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { isUuid, newId } from '../common/ids.js';
import { UserStore, type UserRecord } from '../storage/ports/users.store.js';
import {
  type MemberRecord,
  type WorkspaceRecord,
  WorkspaceStore,
} from '../storage/ports/workspaces.store.js';
import type { AddMemberDto, ChangeWorkspaceDto } from './workspaces.dto.js';

const MAX_ATTEMPTS = 10;

/** Workspaces and who belongs to them. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly clock: Clock,
    private readonly store: WorkspaceStore,
    private readonly users: UserStore,
    private readonly bus: Bus,
  ) {}

  /** A new workspace that its maker owns. */
  async create(name: string, userId: string): Promise<Workspace> {
    const now = this.clock.now();
    const owner: MemberRecord = { userId, role: 'owner', addedAt: now };
    const workspace: WorkspaceRecord = {
      ...{ id: newId(), name, approvals: [], createdAt: now, version: 1, members: [owner] },
    };
    await this.store.insert(workspace);
    return seenBy(workspace, owner);
  }

  async ofUser(userId: string): Promise<Workspace[]> {
    const workspaces = await this.store.ofUser(userId);
    return workspaces.map((workspace) => seenBy(workspace, requireMember(workspace, userId)));
  }

  async get(workspaceId: string, userId: string): Promise<Workspace> {
    const workspace = await this.load(workspaceId);
    return seenBy(workspace, requireMember(workspace, userId));
  }

  /** Its newest settings, as the owner who changed them sees it. */
  async change(
    workspaceId: string,
    ownerId: string,
    { name, approvals }: ChangeWorkspaceDto,
  ): Promise<Workspace> {
    const changed = await this.save(workspaceId, ownerId, (current) => ({
      ...{ ...current, name: name ?? current.name, approvals: approvals ?? current.approvals },
    }));
    return seenBy(changed, requireMember(changed, ownerId));
  }

  /** The server's tools whose calls a person is asked about [APPROVAL-1]. */
  async approvals(workspaceId: string): Promise<CloudChange[]> {
    return (await this.load(workspaceId)).approvals;
  }

  /** FORBIDDEN for whoever is no member, whether the workspace exists or not; VALIDATION_ERROR for what is no id. */
  async requireRole(workspaceId: string, userId: string): Promise<Role> {
    if (!isUuid(workspaceId)) throw new DomainError('VALIDATION_ERROR', 'The workspace id is not a UUID');
    const role = await this.store.roleOf(workspaceId.toLowerCase(), userId);
    if (role === null) throw notMember();
    return role;
  }

  async isMember(workspaceId: string, userId: string): Promise<boolean> {
    return (await this.store.roleOf(workspaceId, userId)) !== null;
  }

  /** Members in the order in which they came. */
  async members(workspaceId: string): Promise<Member[]> {
    const { members } = await this.load(workspaceId);
    const users = await this.users.byIds(members.map((member) => member.userId));
    const byId = new Map(users.map((user) => [user.id, user]));
    return members.flatMap((member) => {
      const user = byId.get(member.userId);
      return user ? [describe(member, user)] : [];
    });
  }

  async addMember(workspaceId: string, ownerId: string, { email, role }: AddMemberDto): Promise<Member> {
    const user = await this.users.byEmail(normalizeEmail(email));
    if (user === null) throw new DomainError('NOT_FOUND', 'No account has this email');
    const member: MemberRecord = { userId: user.id, role, addedAt: this.clock.now() };
    await this.changeMembers(workspaceId, ownerId, (members) => {
      if (members.some(({ userId }) => userId === user.id)) {
        throw new DomainError('CONFLICT', 'This user is a member already');
      }
      return [...members, member];
    });
    return describe(member, user);
  }

  async setRole(workspaceId: string, ownerId: string, userId: string, role: Role): Promise<Member> {
    const workspace = await this.changeMembers(workspaceId, ownerId, (members) => {
      requireIn(members, userId);
      return members.map((member) => (member.userId === userId ? { ...member, role } : member));
    });
    const [user] = await this.users.byIds([userId]);
    if (user === undefined) throw noSuchMember();
    return describe(requireIn(workspace.members, userId), user);
  }

  async removeMember(workspaceId: string, ownerId: string, userId: string): Promise<void> {
    await this.changeMembers(workspaceId, ownerId, (members) => {
      requireIn(members, userId);
      return members.filter((member) => member.userId !== userId);
    });
    this.bus.publish({ type: 'member_removed', workspaceId, userId });
  }

  private changeMembers(
    workspaceId: string,
    actorId: string,
    change: (members: MemberRecord[]) => MemberRecord[],
  ): Promise<WorkspaceRecord> {
    return this.save(workspaceId, actorId, (current) => {
      const members = change(current.members);
      if (members.some(({ role }) => role === 'owner')) return { ...current, members };
      throw new DomainError('CONFLICT', 'A workspace keeps at least one owner');
    });
  }

  /**
   * Applies a change to the newest record and saves it, again where another write was faster. That the actor is an
   * owner is checked on what is changed: since the guard let the request pass it may have ended.
   */
  private async save(
    workspaceId: string,
    actorId: string,
    change: (current: WorkspaceRecord) => WorkspaceRecord,
  ): Promise<WorkspaceRecord> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const current = await this.load(workspaceId);
      if (requireMember(current, actorId).role !== 'owner') throw ownersOnly();
      const next = { ...change(current), version: current.version + 1 };
      if (await this.store.save(next, current.version)) return next;
    }
    throw new DomainError('UNAVAILABLE', 'The workspace is being changed by too many at once; try again');
  }

  private async load(workspaceId: string): Promise<WorkspaceRecord> {
    const workspace = await this.store.byId(workspaceId);
    if (workspace === null) throw notMember();
    return workspace;
  }
}

/** The refusal of a member who is no owner. */
export function ownersOnly(): DomainError {
  return new DomainError('FORBIDDEN', 'Access forbidden: only an owner of the workspace may do this');
}

function notMember(): DomainError {
  return new DomainError('FORBIDDEN', 'Access forbidden: User is not a member of this workspace');
}

function noSuchMember(): DomainError {
  return new DomainError('NOT_FOUND', 'The workspace has no such member');
}

function requireMember({ members }: WorkspaceRecord, userId: string): MemberRecord {
  const member = members.find((candidate) => candidate.userId === userId);
  if (member === undefined) throw notMember();
  return member;
}

function requireIn(members: MemberRecord[], userId: string): MemberRecord {
  const member = members.find((candidate) => candidate.userId === userId);
  if (member === undefined) throw noSuchMember();
  return member;
}

function seenBy({ id, name, approvals, createdAt }: WorkspaceRecord, { role }: MemberRecord): Workspace {
  return { id, name, role, approvals, createdAt: isoTime(createdAt) };
}

function describe({ userId, role, addedAt }: MemberRecord, { email, fullName }: UserRecord): Member {
  return { userId, email, fullName, role, addedAt: isoTime(addedAt) };
}
