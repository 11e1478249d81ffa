import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type CloudChange, MAX_NAMED_OWNERS, type Role } from '@patchbay/protocol';
import { Model, type QueryFilter } from 'mongoose';
import {
  type Removal,
  type WorkspaceRecord,
  WorkspaceStore,
  type WorkspaceSummary,
} from '../ports/workspaces.store.js';
import { WORKSPACE_INDEXES, type WorkspaceDocument, WORKSPACES } from './collections.js';
import { MongoDatabase } from './database.js';
import { Members } from './members.js';
import { checked, eq } from './values.js';

type Filter = QueryFilter<WorkspaceDocument>;

const OLDEST_FIRST = { createdAt: 1, _id: 1 } as const;

@Injectable()
export class MongoWorkspaceStore extends WorkspaceStore {
  constructor(
    private readonly database: MongoDatabase,
    private readonly members: Members,
    @InjectModel(WORKSPACES) private readonly workspaces: Model<WorkspaceDocument>,
  ) {
    super();
  }

  async insert({ id, ...workspace }: WorkspaceRecord): Promise<void> {
    await this.database.insert(this.workspaces, { _id: id, ...workspace, removals: [] });
  }

  async save(workspace: WorkspaceRecord, expectedVersion: number, removal?: Removal): Promise<boolean> {
    const { id, name, approvals, members } = checked(workspace);
    const version = expectedVersion + 1;
    // Appended, since replacing an earlier one would need a read, and that one may be settled meanwhile.
    const update = {
      $set: { name, approvals, members, version },
      ...(removal && { $push: { removals: removalOf(checked(removal)) } }),
    };
    const expected = { _id: eq(id), version: eq(expectedVersion) };
    const { matchedCount } = await this.database.attempt(() => this.workspaces.updateOne(expected, update));
    return matchedCount === 1 || isDeepStrictEqual(await this.byId(id), { ...workspace, version });
  }

  async unsettled(limit: number): Promise<Removal[]> {
    const filter = { 'removals.removedAt': { $gte: 0 } };
    const found = await this.database.attempt(() =>
      this.workspaces.find(filter, { removals: 1 }).limit(limit).lean(),
    );
    return found
      .flatMap(({ _id: workspaceId, removals }) => {
        const lastOfUser = new Map(removals.map((removal) => [removal.userId, removal]));
        return [...lastOfUser.values()].map((removal) => ({ workspaceId, ...removal }));
      })
      .slice(0, limit);
  }

  async settled({ workspaceId, userId, removedAt }: Removal): Promise<void> {
    const removals = { userId: eq(userId), removedAt: { $lte: checked(removedAt) } };
    await this.database.attempt(() =>
      this.workspaces.updateOne({ _id: eq(workspaceId) }, { $pull: { removals } }),
    );
  }

  async byId(id: string): Promise<WorkspaceRecord | null> {
    const found = await this.database.attempt(() =>
      this.workspaces.findOne({ _id: eq(id) }, { removals: 0 }).lean<Omit<WorkspaceDocument, 'removals'>>(),
    );
    if (found === null) return null;
    const { _id, ...workspace } = found;
    return { id: _id, ...workspace };
  }

  async summaryOf(workspaceId: string, userId: string): Promise<WorkspaceSummary | null> {
    const ofMember = { _id: eq(workspaceId), 'members.userId': eq(userId) };
    const found = await this.database.attempt(() => this.workspaces.findOne(ofMember).lean());
    return found === null ? null : summaryFor(userId, found);
  }

  async summariesOf(userId: string, afterId: string | null, limit: number): Promise<WorkspaceSummary[]> {
    const after = afterId === null ? null : await this.place(afterId);
    if (after === null && afterId !== null) return [];
    const later: Filter = after === null ? {} : createdAfter(after);
    const ofMember = { 'members.userId': eq(userId) };
    const own = { ...ofMember, createdBy: eq(userId) };
    const others = { ...ofMember, createdBy: { $ne: checked(userId) } };
    if (after !== null && after.createdBy !== userId)
      return this.page(userId, { ...others, ...later }, WORKSPACE_INDEXES.member, limit);
    const first = await this.page(userId, { ...own, ...later }, WORKSPACE_INDEXES.maker, limit);
    if (first.length === limit) return first;
    const remaining = limit - first.length;
    return [...first, ...(await this.page(userId, others, WORKSPACE_INDEXES.member, remaining))];
  }

  async approvalsOf(workspaceId: string): Promise<CloudChange[] | null> {
    const found = await this.database.attempt(() =>
      this.workspaces.findOne({ _id: eq(workspaceId) }, { approvals: 1 }).lean(),
    );
    return found === null ? null : found.approvals;
  }

  countMadeBy(makerId: string, memberId: string): Promise<number> {
    const filter = { createdBy: eq(makerId), 'members.userId': eq(memberId) };
    return this.database.attempt(() => this.workspaces.countDocuments(filter));
  }

  roleOf(workspaceId: string, userId: string): Promise<Role | null> {
    return this.members.roleOf({ workspaceId, userId });
  }

  private place(id: string): Promise<WorkspaceDocument | null> {
    return this.database.attempt(() =>
      this.workspaces.findOne({ _id: eq(id) }, { createdAt: 1, createdBy: 1 }).lean<WorkspaceDocument>(),
    );
  }

  /** Uses the named index: a planner may choose the other one, and sort. */
  private async page(
    userId: string,
    filter: Filter,
    { name }: { name: string },
    limit: number,
  ): Promise<WorkspaceSummary[]> {
    const found = await this.database.attempt(() =>
      this.workspaces.find(filter).sort(OLDEST_FIRST).limit(limit).hint(name).lean(),
    );
    return found.map((workspace) => summaryFor(userId, workspace));
  }
}

function createdAfter({ _id, createdAt }: Pick<WorkspaceDocument, '_id' | 'createdAt'>): Filter {
  return { $or: [{ createdAt: { $gt: createdAt } }, { createdAt: eq(createdAt), _id: { $gt: _id } }] };
}

function removalOf({ userId, byUserId, removedAt }: Removal): WorkspaceDocument['removals'][number] {
  return { userId, byUserId, removedAt };
}

function summaryFor(userId: string, workspace: WorkspaceDocument): WorkspaceSummary {
  const { _id: id, name, approvals, createdAt, createdBy, members } = workspace;
  const owners = members.filter(({ role }) => role === 'owner').slice(0, MAX_NAMED_OWNERS);
  const { role } = members.find((member) => member.userId === userId)!;
  return { id, name, approvals, createdAt, createdBy, role, owners: owners.map((owner) => owner.userId) };
}
