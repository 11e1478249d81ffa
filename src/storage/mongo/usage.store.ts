import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { type Usage, UsageStore } from '../ports/usage.store.js';
import { type WorkspaceDocument, WORKSPACES } from './collections.js';
import { MongoDatabase } from './database.js';
import { Gathered, readsById } from './gathered.js';
import { type UsageDocument, USAGE } from './usage-collections.js';
import { sumOf, UsageCounter } from './usage-counter.js';
import { eq } from './values.js';

@Injectable()
export class MongoUsageStore extends UsageStore {
  private readonly workspaceUsage: (workspaceId: string) => Promise<Omit<UsageDocument, 'members'> | null>;
  private readonly users = new Gathered<string, Usage>(async (userIds) => {
    const sums = new Map([...new Set(userIds)].map((userId) => [userId, this.sumOfUser(userId)]));
    return Promise.all(userIds.map((userId) => sums.get(userId)!));
  });

  constructor(
    private readonly database: MongoDatabase,
    private readonly counter: UsageCounter,
    @InjectModel(USAGE) private readonly usage: Model<UsageDocument>,
    @InjectModel(WORKSPACES) private readonly workspaces: Model<WorkspaceDocument>,
  ) {
    super();
    this.workspaceUsage = readsById(database, usage, { members: 0 });
  }

  async ofWorkspace(workspaceId: string): Promise<Usage> {
    await this.counter.flush();
    return sumOf((await this.workspaceUsage(workspaceId)) ?? {}, {});
  }

  async ofUser(userId: string): Promise<Usage> {
    await this.counter.flush();
    return this.users.of(eq(userId).$eq);
  }

  private async sumOfUser(userId: string): Promise<Usage> {
    const [counted, workspaceIds, bytesLeft] = await Promise.all([
      this.database.attempt(() =>
        this.usage
          .find({ 'members.userId': eq(userId) }, { members: { $elemMatch: { userId: eq(userId) } } })
          .lean(),
      ),
      this.workspacesOf(userId),
      this.bytesLeftTo(userId),
    ]);
    return counted
      .filter(({ _id }) => workspaceIds.has(_id))
      .reduce((sum, { members }) => sumOf(sum, members[0]!), sumOf({ bytes: bytesLeft }, {}));
  }

  /** Bytes that former members left in the workspaces that a user created. */
  private async bytesLeftTo(creatorId: string): Promise<number> {
    const created = await this.database.attempt(() =>
      this.workspaces.find({ createdBy: eq(creatorId) }, { members: 1 }).lean(),
    );
    const present = new Map(
      created.map(({ _id, members }) => [_id, new Set(members.map((one) => one.userId))]),
    );
    const counted = await this.database.attempt(() =>
      this.usage.find({ _id: { $in: [...present.keys()] } }, { members: 1 }).lean(),
    );
    const hasLeft = (workspaceId: string, userId: string): boolean =>
      userId !== creatorId && !present.get(workspaceId)!.has(userId);
    return counted
      .flatMap(({ _id, members }) => members.filter(({ userId }) => hasLeft(_id, userId)))
      .reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Workspaces that the user created or is a member of. */
  private async workspacesOf(userId: string): Promise<Set<string>> {
    const found = await Promise.all(
      [{ createdBy: eq(userId) }, { 'members.userId': eq(userId) }].map((filter) =>
        this.database.attempt(() => this.workspaces.find(filter, { _id: 1 }).lean()),
      ),
    );
    return new Set(found.flat().map(({ _id }) => _id));
  }
}
