import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter } from 'mongoose';
import type { Lease, Membership, SessionUse, Turn, TurnRef } from '../ports/turn.js';
import type { OpenCount, OpenTurnName, TurnVersion } from '../ports/turns.store.js';
import { type WorkspaceDocument, WORKSPACES } from './collections.js';
import { MongoDatabase } from './database.js';
import { Gathered } from './gathered.js';
import { type TurnDocument, TURNS } from './turn-collections.js';
import { memberKey, sessionKey, turnKey } from './turn-documents.js';
import { checked, eq, membersAmong } from './values.js';

type Filter = QueryFilter<TurnDocument>;

const REF = { _id: 0, workspaceId: 1, sessionId: 1, turnId: 1 } as const;
const VERSION = { ...REF, userId: 1, version: 1 } as const;
const OLDEST_FIRST = { acceptedAt: 1, firstCallId: 1 } as const;
const NEWEST_FIRST = { acceptedAt: -1, firstCallId: -1 } as const;

const NONE_OPEN: OpenCount = { turns: 0, calls: 0 };

/** Users per query. */
const USERS_PER_QUERY = 500;

/** Queries about turns, mostly about open ones. */
@Injectable()
export class OpenTurnQueries {
  private readonly ofWorkspaces = new Gathered<string, OpenCount>((ids) => this.countsOfWorkspaces(ids));
  private readonly ofUsers = new Gathered<string, OpenCount>((ids) => this.countsOfUsers(ids));

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(TURNS) private readonly turns: Model<TurnDocument>,
    @InjectModel(WORKSPACES) private readonly workspaces: Model<WorkspaceDocument>,
  ) {}

  async versionsOf(users: readonly Membership[]): Promise<TurnVersion[]> {
    const found: (TurnVersion & Pick<TurnDocument, 'acceptedAt' | 'firstCallId'>)[] = [];
    for (let from = 0; from < users.length; from += USERS_PER_QUERY) {
      const keys = users.slice(from, from + USERS_PER_QUERY).map(memberKey);
      const fields = { ...VERSION, acceptedAt: 1, firstCallId: 1 };
      const turns = await this.database.attempt(() =>
        this.turns.find({ openOf: { $in: keys } }, fields).lean<typeof found>(),
      );
      found.push(...turns);
    }
    return found
      .sort((a, b) => a.acceptedAt - b.acceptedAt || (a.firstCallId < b.firstCallId ? -1 : 1))
      .map(({ acceptedAt: _acceptedAt, firstCallId: _firstCallId, ...turn }) => turn);
  }

  async page(
    workspaceId: string,
    userId: string | null,
    after: TurnRef | null,
    limit: number,
  ): Promise<OpenTurnName[]> {
    const filter: Filter =
      userId === null ? { openIn: eq(workspaceId) } : { openOf: eq(memberKey({ workspaceId, userId })) };
    if (after !== null) {
      const cursor = await this.cursorOf(after);
      if (cursor === null) return [];
      const { acceptedAt, firstCallId } = cursor;
      filter.acceptedAt = { $gte: acceptedAt };
      filter.$or = [
        { acceptedAt: { $gt: acceptedAt } },
        { acceptedAt: eq(acceptedAt), firstCallId: { $gt: firstCallId } },
      ];
    }
    const found = await this.database.attempt(() =>
      this.turns
        .find(filter, { ...VERSION, acceptedAt: 1, state: 1 })
        .sort(OLDEST_FIRST)
        .limit(limit)
        .lean<(OpenTurnName & { state: string })[]>(),
    );
    return found.map(({ state, ...name }) => {
      const { direct } = JSON.parse(state) as Pick<Turn, 'direct'>;
      return { ...name, ...(direct && { direct }) };
    });
  }

  async countOfWorkspace(workspaceId: string): Promise<OpenCount> {
    return this.ofWorkspaces.of(eq(workspaceId).$eq);
  }

  async countOfUser(userId: string): Promise<OpenCount> {
    return this.ofUsers.of(eq(userId).$eq);
  }

  dueBefore(time: number, limit: number): Promise<TurnRef[]> {
    const due = { dueAt: { $lte: checked(time) } };
    return this.database.attempt(() =>
      this.turns.find(due, REF).sort({ dueAt: 1 }).limit(limit).lean<TurnRef[]>(),
    );
  }

  leasedBy(node: Lease['owner']): Promise<TurnRef[]> {
    return this.database.attempt(() => this.turns.find({ leaseOwner: eq(node) }, REF).lean<TurnRef[]>());
  }

  async lastUseOf(workspaceId: string, sessionId: string): Promise<SessionUse | null> {
    const used = { usedIn: eq(sessionKey(workspaceId, sessionId)) };
    const last = await this.database.attempt(() =>
      this.turns.findOne(used, { state: 1 }).sort(NEWEST_FIRST).lean<{ state: string }>(),
    );
    if (last === null) return null;
    const { lastClientId, folder } = JSON.parse(last.state) as Turn;
    return { lastClientId, folder };
  }

  private cursorOf(ref: TurnRef): Promise<Pick<TurnDocument, 'acceptedAt' | 'firstCallId'> | null> {
    const _id = eq(turnKey(ref));
    return this.database.attempt(() =>
      this.turns.findOne({ _id }, { acceptedAt: 1, firstCallId: 1 }).lean<TurnDocument>(),
    );
  }

  private async countsOfUsers(userIds: readonly string[]): Promise<OpenCount[]> {
    const users = new Set(userIds);
    const found = await this.database.attempt(() =>
      this.workspaces.aggregate<Pick<WorkspaceDocument, '_id' | 'members'>>([
        { $match: { 'members.userId': { $in: [...users] } } },
        { $project: { members: membersAmong(users) } },
      ]),
    );
    const keys = new Map([...users].map((userId) => [userId, [] as string[]]));
    for (const { _id: workspaceId, members } of found)
      for (const { userId } of members) keys.get(userId)?.push(memberKey({ workspaceId, userId }));
    const counts = await this.counts('openOf', [...keys.values()].flat());
    return userIds.map((userId) => {
      const open = keys.get(userId)!.map((key) => counts.get(key) ?? NONE_OPEN);
      return open.reduce(sumOf, NONE_OPEN);
    });
  }

  private async countsOfWorkspaces(workspaceIds: readonly string[]): Promise<OpenCount[]> {
    const counts = await this.counts('openIn', [...new Set(workspaceIds)]);
    return workspaceIds.map((id) => counts.get(id) ?? NONE_OPEN);
  }

  /** Counts open turns and calls by the value of a field. */
  private async counts(
    field: 'openIn' | 'openOf',
    values: readonly string[],
  ): Promise<Map<string, OpenCount>> {
    if (values.length === 0) return new Map();
    const found = await this.database.attempt(() =>
      this.turns.aggregate<OpenCount & { _id: string }>([
        { $match: { [field]: { $in: values } } },
        { $group: { _id: `$${field}`, turns: { $sum: 1 }, calls: { $sum: '$callCount' } } },
      ]),
    );
    return new Map(found.map(({ _id, turns, calls }) => [_id, { turns, calls }]));
  }
}

function sumOf(one: OpenCount, other: OpenCount): OpenCount {
  return { turns: one.turns + other.turns, calls: one.calls + other.calls };
}
