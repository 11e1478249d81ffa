import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { ActiveFile } from '@patchbay/protocol';
import { Model, type QueryFilter } from 'mongoose';
import { type SessionRecord, SessionStore } from '../ports/sessions.store.js';
import { type SessionDocument, SESSIONS } from './collections.js';
import { MongoDatabase } from './database.js';
import { readsById } from './gathered.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { UsageCounter } from './usage-counter.js';
import { checked, eq, keyOf } from './values.js';

/** The list of Active Files may be long, and has a question of its own. */
const RECORD = { activeFiles: 0, activeBytes: 0 } as const;
type StoredRecord = SessionRecord & { _id: string };

@Injectable()
export class MongoSessionStore extends SessionStore {
  private readonly read: (_id: string) => Promise<StoredRecord | null>;

  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    private readonly usage: UsageCounter,
    @InjectModel(SESSIONS) private readonly sessions: Model<SessionDocument>,
  ) {
    super();
    this.read = readsById(database, sessions, RECORD);
  }

  async insert(session: SessionRecord): Promise<void> {
    const { workspaceId, id, userId, tools } = session;
    await this.workspaces.require(workspaceId);
    const bytes = tools === null ? 0 : Buffer.byteLength(JSON.stringify(tools));
    const counted = { activeFiles: '[]', activeBytes: 0 };
    const _id = keyOf(workspaceId, id);
    if (await this.database.insert(this.sessions, { _id, ...session, ...counted }))
      this.usage.count(workspaceId, userId, { sessions: 1, bytes });
  }

  async byId(workspaceId: string, id: string): Promise<SessionRecord | null> {
    const found = await this.read(keyOf(workspaceId, id));
    return found === null ? null : toSession(found);
  }

  async ofUser(
    workspaceId: string,
    userId: string,
    beforeId: string | null,
    limit: number,
  ): Promise<SessionRecord[]> {
    const filter: QueryFilter<SessionDocument> = { workspaceId: eq(workspaceId), userId: eq(userId) };
    if (beforeId !== null) {
      const before = await this.byId(workspaceId, beforeId);
      if (before === null) return [];
      const { createdAt, id } = before;
      filter.$or = [{ createdAt: { $lt: createdAt } }, { createdAt: eq(createdAt), id: { $lt: id } }];
    }
    const found = await this.database.attempt(() =>
      this.sessions.find(filter, RECORD).sort({ createdAt: -1, id: -1 }).limit(limit).lean<StoredRecord[]>(),
    );
    return found.map(toSession);
  }

  async replaceActiveFiles(
    workspaceId: string,
    sessionId: string,
    files: readonly ActiveFile[],
  ): Promise<void> {
    await this.workspaces.require(workspaceId);
    const _id = eq(keyOf(workspaceId, sessionId));
    const activeFiles = JSON.stringify(checked(files));
    const $set = { activeFiles, activeBytes: Buffer.byteLength(activeFiles) };
    const options = { projection: { userId: 1, activeBytes: 1 }, returnDocument: 'before' as const };
    const before = await this.database.attempt(() =>
      this.sessions.findOneAndUpdate({ _id }, { $set }, options).lean(),
    );
    if (before === null) return;
    this.usage.count(workspaceId, before.userId, { bytes: $set.activeBytes - before.activeBytes });
  }

  async activeFilesOf(workspaceId: string, sessionId: string): Promise<ActiveFile[]> {
    const _id = eq(keyOf(workspaceId, sessionId));
    const found = await this.database.attempt(() =>
      this.sessions.findOne({ _id }, { activeFiles: 1 }).lean(),
    );
    return found === null ? [] : (JSON.parse(found.activeFiles) as ActiveFile[]);
  }
}

function toSession({ _id, ...session }: StoredRecord): SessionRecord {
  return session;
}
