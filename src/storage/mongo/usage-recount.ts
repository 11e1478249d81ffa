import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import type { Usage } from '../ports/usage.store.js';
import { type SessionDocument, SESSIONS } from './collections.js';
import { MongoDatabase } from './database.js';
import { type BlobDocument, BLOBS, type EntryDocument, ENTRIES } from './file-collections.js';
import { type VersionDocument, VERSIONS } from './file-collections.js';
import {
  type CountingDocument,
  COUNTING,
  NONE,
  type UsageDocument,
  USAGE,
  usageOf,
} from './usage-collections.js';
import { eq } from './values.js';
import { versionId } from './versions.js';

/** Longer than a count comes after its write began; what comes later is in doubt (`UsageCounter`). */
export const SETTLE_MS = 2000;
const TRIES = 3;
const AT_ONCE = 50;
/** So long it may take to read all files of a workspace. */
const READ_ALL_MS = 10 * 60_000;
const VERSIONS_AT_ONCE = 500;

type Add = (userId: string | null, more: Partial<Usage>) => void;
type Group = { _id: string | null } & Partial<Usage>;

/** Counts a workspace from what it holds. */
@Injectable()
export class UsageRecount {
  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(USAGE) private readonly usage: Model<UsageDocument>,
    @InjectModel(COUNTING) private readonly counting: Model<CountingDocument>,
    @InjectModel(ENTRIES) private readonly entries: Model<EntryDocument>,
    @InjectModel(VERSIONS) private readonly versions: Model<VersionDocument>,
    @InjectModel(BLOBS) private readonly blobs: Model<BlobDocument>,
    @InjectModel(SESSIONS) private readonly sessions: Model<SessionDocument>,
  ) {}

  /** Counts again where a process was when it went, some workspaces at a time. */
  async ofThoseWhoAreGone(now: number): Promise<void> {
    const gone = { until: { $lt: now } };
    const notes = await this.database.attempt(() =>
      this.counting.find(gone).sort({ until: 1 }).limit(AT_ONCE).lean(),
    );
    for (const workspaceId of new Set(notes.map((note) => note.workspaceId))) {
      if (!(await this.count(workspaceId))) continue;
      const $in = notes.filter((note) => note.workspaceId === workspaceId).map(({ _id }) => _id);
      await this.database.attempt(() => this.counting.deleteMany({ _id: { $in } }));
    }
  }

  /**
   * Sets what there is. A count may be under way whose write is seen here already: so it is set only where nothing was
   * counted since, and for a while after; false where that does not come about.
   */
  async count(workspaceId: string, settleMs = SETTLE_MS): Promise<boolean> {
    const _id = eq(workspaceId);
    await this.database.insert(this.usage, usageOf(workspaceId));
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await this.database.attempt(() => this.usage.findOne({ _id }, { revision: 1 }).lean());
      const all = { ...NONE };
      const members = new Map<string, Usage>();
      await this.addUp(workspaceId, (userId, more) => {
        for (const [name, by] of Object.entries(more) as [keyof Usage, number][]) {
          all[name] += by;
          if (userId === null) continue;
          const own = members.get(userId) ?? { ...NONE };
          members.set(userId, own);
          own[name] += by;
        }
      });
      await setTimeout(settleMs);
      const unchanged = { _id, revision: eq(before!.revision) };
      const ofMembers = [...members].map(([userId, own]) => ({ userId, ...own }));
      const update = {
        $set: { ...all, members: ofMembers, recountedAt: Date.now() },
        $inc: { revision: 1 },
      };
      // Not tried again where its answer is lost: it would find itself changed, and begin anew.
      const { matchedCount } = await this.database.attempt(() => this.usage.updateOne(unchanged, update));
      if (matchedCount === 1) return true;
    }
    return false;
  }

  private async addUp(workspaceId: string, add: Add): Promise<void> {
    const inWorkspace = { workspaceId: eq(workspaceId) };
    const group = (
      model: Model<EntryDocument> | Model<VersionDocument> | Model<BlobDocument> | Model<SessionDocument>,
      filter: object,
      user: string,
      sums: object,
    ): Promise<Group[]> =>
      this.database.attempt(() =>
        (model as Model<EntryDocument>).aggregate<Group>([
          { $match: { ...inWorkspace, ...filter } },
          { $group: { _id: `$${user}`, ...sums } },
        ]),
      );
    const one = { $sum: 1 };
    const groups = await Promise.all([
      group(this.entries, { isLive: eq(true) }, 'holder', { files: one }),
      group(this.entries, { isLive: { $in: [true, false] }, kind: eq('folder') }, 'holder', {
        versions: one,
      }),
      group(this.versions, {}, 'author', { versions: one }),
      group(this.blobs, { state: eq('here') }, 'holder', { bytes: { $sum: '$size' } }),
      group(this.sessions, {}, 'userId', {
        sessions: one,
        bytes: { $sum: { $add: ['$toolsBytes', '$activeBytes'] } },
      }),
    ]);
    const fresh = await this.freshOf(workspaceId);
    for (const { _id: userId, ...more } of [...groups.flat(), ...fresh]) add(userId, more);
  }

  /** Versions that are not in their collection yet. Those that are too were counted there. */
  private async freshOf(workspaceId: string): Promise<Group[]> {
    const all = { workspaceId: eq(workspaceId), isLive: { $in: [true, false] } };
    const fresh: { _id: string; author: string }[] = [];
    await this.database.attempt(async () => {
      fresh.length = 0;
      for await (const { id, fresh: versions } of this.entries.find(all, { id: 1, fresh: 1 }).lean().cursor())
        for (const { number, author } of versions)
          fresh.push({ _id: versionId(workspaceId, id, number), author });
    }, READ_ALL_MS);
    const settled = new Set<string>();
    for (let at = 0; at < fresh.length; at += VERSIONS_AT_ONCE) {
      const $in = fresh.slice(at, at + VERSIONS_AT_ONCE).map(({ _id }) => _id);
      const found = await this.database.attempt(() =>
        this.versions.find({ _id: { $in } }, { _id: 1 }).lean(),
      );
      for (const { _id } of found) settled.add(_id);
    }
    return fresh.filter(({ _id }) => !settled.has(_id)).map(({ author }) => ({ _id: author, versions: 1 }));
  }
}
