import { Injectable } from '@nestjs/common';
import type { CloudChange, Member, Role, User, Workspace, WorkspacePage } from '@patchbay/protocol';
import { Memberships } from '../access/memberships.js';
import { normalizeEmail } from '../auth/auth.service.js';
import { Bus } from '../events/bus.js';
import { Clock, isoTime } from '../common/clock.js';
import { DomainError, notMember, ownersOnly } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { KeyLocks } from '../common/key-locks.js';
import { Config } from '../config/config.js';
import { UserStore, type UserRecord } from '../storage/records/users.js';
import {
  type MemberRecord,
  type Removal,
  type WorkspaceRecord,
  WorkspaceStore,
  type WorkspaceSummary,
} from '../storage/ports/workspaces.store.js';
import type { AddMemberDto, ChangeWorkspaceDto, WorkspacesQueryDto } from './workspaces.dto.js';

const MAX_ATTEMPTS = 10;

/** Workspaces and their members. */
@Injectable()
export class WorkspacesService {
  /** Serializes the creations of one user, so that the limit is exact. */
  private readonly creations = new KeyLocks();

  constructor(
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly store: WorkspaceStore,
    private readonly users: UserStore,
    private readonly memberships: Memberships,
    private readonly bus: Bus,
  ) {}

  /** Creates a workspace owned by the user. CONFLICT if the user has created too many. */
  async create(name: string, userId: string): Promise<Workspace> {
    return this.creations.hold([userId], () => this.createNext(name, userId));
  }

  private async createNext(name: string, userId: string): Promise<Workspace> {
    const { maxUserWorkspaces } = this.config;
    const made = await this.store.countMadeBy(userId, userId);
    if (made >= maxUserWorkspaces) {
      const message = `You have created ${made} workspaces; the limit is ${maxUserWorkspaces}. Use one of them, or leave one.`;
      throw new DomainError('CONFLICT', message);
    }
    const now = this.clock.now();
    const owner: MemberRecord = { userId, role: 'owner', addedAt: now };
    const workspace: WorkspaceRecord = {
      ...{ id: newId(), name, approvals: [], createdAt: now, createdBy: userId, version: 1 },
      members: [owner],
    };
    await this.store.insert(workspace);
    return this.get(workspace.id, userId);
  }

  /** A page of a user's workspaces: those they created first. */
  async ofUser(userId: string, { limit, cursor }: WorkspacesQueryDto): Promise<WorkspacePage> {
    const found = await this.store.summariesOf(userId, cursor?.toLowerCase() ?? null, limit + 1);
    const workspaces = await this.views(found.slice(0, limit));
    return { workspaces, nextCursor: found.length > limit ? workspaces.at(-1)!.id : null };
  }

  async get(workspaceId: string, userId: string): Promise<Workspace> {
    const workspace = await this.store.summaryOf(workspaceId, userId);
    if (workspace === null) throw notMember();
    return (await this.views([workspace]))[0]!;
  }

  /** The changed workspace, as its owner sees it. */
  async change(
    workspaceId: string,
    ownerId: string,
    { name, approvals }: ChangeWorkspaceDto,
  ): Promise<Workspace> {
    await this.save(workspaceId, ownerId, (current) => ({
      ...{ ...current, name: name ?? current.name, approvals: approvals ?? current.approvals },
    }));
    return this.get(workspaceId, ownerId);
  }

  /** The server tools whose calls need approval [APPROVAL-1]. */
  async approvals(workspaceId: string): Promise<CloudChange[]> {
    const approvals = await this.store.approvalsOf(workspaceId);
    if (approvals === null) throw notMember();
    return approvals;
  }

  /** Members by time of joining. */
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
    await this.requireMembership(workspaceId, user.id);
    const member: MemberRecord = { userId: user.id, role, addedAt: this.clock.now() };
    await this.changeMembers(workspaceId, ownerId, (members) => {
      if (members.some(({ userId }) => userId === user.id)) {
        throw new DomainError('CONFLICT', 'This user is a member already');
      }
      const { maxMembers } = this.config;
      if (members.length >= maxMembers) {
        const message = `The workspace has ${members.length} members; the limit is ${maxMembers}. Remove one first.`;
        throw new DomainError('CONFLICT', message);
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
    this.memberships.changed({ workspaceId, userId });
    const [user] = await this.users.byIds([userId]);
    if (user === undefined) throw noSuchMember();
    return describe(requireIn(workspace.members, userId), user);
  }

  /** Ends a membership: owners may remove anybody, members only themselves. */
  async removeMember(workspaceId: string, actorId: string, userId: string): Promise<void> {
    const removal = { workspaceId, userId, byUserId: actorId, removedAt: this.clock.now() };
    const remove = (members: MemberRecord[]): MemberRecord[] => {
      requireIn(members, userId);
      return members.filter((member) => member.userId !== userId);
    };
    await this.changeMembers(workspaceId, actorId, remove, removal);
    this.memberships.changed(removal);
    this.bus.publish({ type: 'member_removed', workspaceId, userId });
  }

  private async views(workspaces: readonly WorkspaceSummary[]): Promise<Workspace[]> {
    const users = await this.users.byIds([...new Set(workspaces.flatMap(({ owners }) => owners))]);
    const byId = new Map(users.map((user) => [user.id, user]));
    return workspaces.map(({ id, name, role, owners, createdBy, approvals, createdAt }) => ({
      ...{ id, name, role, createdBy, approvals, createdAt: isoTime(createdAt) },
      owners: owners.flatMap((userId): User[] => {
        const user = byId.get(userId);
        return user ? [{ id: userId, email: user.email, fullName: user.fullName }] : [];
      }),
    }));
  }

  private changeMembers(
    workspaceId: string,
    actorId: string,
    change: (members: MemberRecord[]) => MemberRecord[],
    removal?: Removal,
  ): Promise<WorkspaceRecord> {
    const withOwner = (current: WorkspaceRecord): WorkspaceRecord => {
      const members = change(current.members);
      if (members.some(({ role }) => role === 'owner')) return { ...current, members };
      throw new DomainError('CONFLICT', 'A workspace keeps at least one owner');
    };
    return this.save(workspaceId, actorId, withOwner, removal);
  }

  /**
   * Anybody may add anybody to workspaces they created, within a limit of their own that does not reduce the limits of
   * others.
   */
  private async requireMembership(workspaceId: string, userId: string): Promise<void> {
    const { createdBy } = await this.load(workspaceId);
    if (createdBy === userId || (await this.memberships.isMember({ workspaceId, userId }))) return;
    const { maxMakerMemberships } = this.config;
    if ((await this.store.countMadeBy(createdBy, userId)) < maxMakerMemberships) return;
    const message =
      `This user is a member of ${maxMakerMemberships} workspaces of the same creator, and that is the limit. ` +
      'The user has to leave one of them first.';
    throw new DomainError('CONFLICT', message);
  }

  /**
   * Applies a change to the newest record and saves it, with retries. It checks again that the actor is an owner or
   * removes only themselves, since the role may have changed after the guard.
   */
  private async save(
    workspaceId: string,
    actorId: string,
    change: (current: WorkspaceRecord) => WorkspaceRecord,
    removal?: Removal,
  ): Promise<WorkspaceRecord> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const current = await this.load(workspaceId);
      const { role } = requireMember(current, actorId);
      if (role !== 'owner' && removal?.userId !== actorId) throw ownersOnly();
      const next = { ...change(current), version: current.version + 1 };
      if (await this.store.save(next, current.version, removal)) return next;
    }
    throw new DomainError('UNAVAILABLE', 'Too many changes of this workspace at once; try again');
  }

  private async load(workspaceId: string): Promise<WorkspaceRecord> {
    const workspace = await this.store.byId(workspaceId);
    if (workspace === null) throw notMember();
    return workspace;
  }
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

function describe({ userId, role, addedAt }: MemberRecord, { email, fullName }: UserRecord): Member {
  return { userId, email, fullName, role, addedAt: isoTime(addedAt) };
}
