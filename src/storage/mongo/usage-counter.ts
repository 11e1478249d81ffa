import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter, type UpdateQuery } from 'mongoose';
import { newId } from '../../common/ids.js';
import type { Usage } from '../ports/usage.store.js';
import { MongoDatabase } from './database.js';
import { type CountingDocument, COUNTING, type UsageDocument, USAGE, usageOf } from './usage-collections.js';
import { SETTLE_MS, UsageRecount } from './usage-recount.js';
import { eq } from './values.js';

/** How long counts wait for others of their workspace. */
const FLUSH_MS = 50;
/** A process says so often that it is there, and is taken for gone after the lease. */
const RENEW_MS = 60_000;
const LEASE_MS = 5 * RENEW_MS;
/** After so long without a write a workspace is not being counted in. */
const IDLE_MS = 10 * RENEW_MS;

/** A recount may have seen the write of a count that is stored so long after that began, and not the count. */
const LATE_MS = SETTLE_MS / 2;
/** By how much the clocks of processes may differ. */
const CLOCKS_MS = 60_000;

/** What users have more; `since`: when the first of their writes began, epoch ms. */
interface Additions {
  since: number;
  byUser: Map<string | null, Usage>;
}

/**
 * Counts after the write. Before its first write in a workspace a process notes that it will count there; what it had not
 * counted when it went away without taking that back, is counted again, as is a workspace whose counts are in doubt.
 */
@Injectable()
export class UsageCounter implements OnModuleInit, BeforeApplicationShutdown {
  private readonly process = newId();
  /** The workspaces that it counts in: under which id it noted that, and when it wrote last. */
  private readonly noted = new Map<string, { note: Promise<string>; usedAt: number }>();
  /** Workspaces whose counts are in doubt, until that is noted. */
  private readonly doubts = new Set<string>();
  private waiting = new Map<string, Additions>();
  private isRecounting = false;
  private flushing: Promise<void> = Promise.resolve();
  private flushTimer: NodeJS.Timeout | undefined;
  private renewTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: MongoDatabase,
    private readonly recount: UsageRecount,
    @InjectModel(USAGE) private readonly usage: Model<UsageDocument>,
    @InjectModel(COUNTING) private readonly counting: Model<CountingDocument>,
  ) {}

  onModuleInit(): void {
    const renew = () => void this.renew().catch(() => undefined);
    this.renewTimer = setInterval(renew, RENEW_MS).unref();
    renew();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.renewTimer);
    try {
      await this.flush();
      await this.noteDoubts();
      await this.database.attempt(() => this.counting.deleteMany({ process: eq(this.process) }));
    } catch {
      // Whoever comes next counts again.
    }
  }

  /** Before a write that is to be counted. */
  async begin(workspaceId: string): Promise<void> {
    const known = this.noted.get(workspaceId);
    const noted = known ?? { note: this.note(workspaceId, this.process, LEASE_MS), usedAt: 0 };
    noted.usedAt = Date.now();
    if (known === undefined) this.noted.set(workspaceId, noted);
    try {
      await noted.note;
    } catch (error) {
      if (this.noted.get(workspaceId) === noted) this.noted.delete(workspaceId);
      throw error;
    }
  }

  /** Counts what a write that began at `since` (epoch ms) has added, or taken away, for the workspace and for a user in it. */
  count(workspaceId: string, userId: string | null, more: Partial<Usage>, since: number): void {
    const ofWorkspace: Additions = this.waiting.get(workspaceId) ?? { since, byUser: new Map() };
    this.waiting.set(workspaceId, ofWorkspace);
    ofWorkspace.since = Math.min(ofWorkspace.since, since);
    const { byUser } = ofWorkspace;
    byUser.set(userId, sumOf(byUser.get(userId) ?? {}, more));
    this.flushTimer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** A write may have been made and not counted, or counted twice. */
  doubt(workspaceId: string): void {
    if (this.doubts.has(workspaceId)) return;
    this.doubts.add(workspaceId);
    this.noteDoubts().catch(() => undefined);
  }

  /** What can't be noted now stays in doubt; until it is noted this process does not say that it has counted all. */
  private async noteDoubts(): Promise<void> {
    for (const workspaceId of this.doubts) {
      await this.note(workspaceId, 'doubt', 0);
      this.doubts.delete(workspaceId);
    }
  }

  /** Resolves once everything that was counted before is written, or is in doubt. */
  flush(): Promise<void> {
    clearTimeout(this.flushTimer);
    this.flushTimer = undefined;
    const due = this.waiting;
    this.waiting = new Map();
    if (due.size > 0) {
      this.flushing = this.flushing.then(async () => {
        await Promise.all([...due].map(([workspaceId, additions]) => this.write(workspaceId, additions)));
      });
    }
    return this.flushing;
  }

  private async write(workspaceId: string, { since, byUser }: Additions): Promise<void> {
    try {
      let recountedAt = 0;
      for (const [userId, more] of byUser) recountedAt = await this.add(workspaceId, userId, more);
      const isLate = Date.now() - since > LATE_MS;
      if (isLate && recountedAt > since - CLOCKS_MS) this.doubt(workspaceId);
    } catch {
      this.doubt(workspaceId);
    }
  }

  /** Gives when the workspace was counted anew. Not tried again where it fails in passing: it may have been done. */
  private async add(workspaceId: string, userId: string | null, more: Usage): Promise<number> {
    const _id = eq(workspaceId);
    const ofAll = { ...more, revision: 1 };
    for (;;) {
      const added =
        userId === null
          ? await this.added({ _id }, { $inc: ofAll })
          : ((await this.added(
              { _id, 'members.userId': eq(userId) },
              { $inc: { ...ofAll, ...ofTheMember(more) } },
            )) ??
            (await this.added(
              { _id, 'members.userId': { $ne: userId } },
              { $inc: ofAll, $push: { members: { userId, ...more } } },
            )));
      if (added !== null) return added.recountedAt;
      await this.database.insert(this.usage, usageOf(workspaceId));
    }
  }

  private added(
    filter: QueryFilter<UsageDocument>,
    update: UpdateQuery<UsageDocument>,
  ): Promise<Pick<UsageDocument, 'recountedAt'> | null> {
    return this.usage.findOneAndUpdate(filter, update, { projection: { recountedAt: 1 } }).lean();
  }

  /** Says that it is still there, no more so of workspaces where it is idle; counts again where somebody is gone. */
  private async renew(): Promise<void> {
    const now = Date.now();
    await this.noteDoubts();
    for (const [workspaceId, { note, usedAt }] of this.noted) {
      if (usedAt > now - IDLE_MS) continue;
      this.noted.delete(workspaceId);
      await this.flush();
      await this.noteDoubts();
      const _id = eq(await note);
      await this.database.attempt(() => this.counting.deleteOne({ _id }));
    }
    const mine = { process: eq(this.process) };
    const $set = { until: Date.now() + LEASE_MS };
    await this.database.attempt(() => this.counting.updateMany(mine, { $set }));
    // That may take longer than until the next time, which then goes on with what is left.
    if (this.isRecounting) return;
    this.isRecounting = true;
    try {
      await this.recount.ofThoseWhoAreGone(Date.now());
    } finally {
      this.isRecounting = false;
    }
  }

  private async note(workspaceId: string, process: string, lease: number): Promise<string> {
    const _id = newId();
    const until = lease === 0 ? 0 : Date.now() + lease;
    await this.database.insert(this.counting, { _id, process, workspaceId, until });
    return _id;
  }
}

function ofTheMember(more: Usage): { [path: string]: number } {
  return Object.fromEntries(Object.entries(more).map(([name, by]) => [`members.$.${name}`, by]));
}

export function sumOf(one: Partial<Usage>, other: Partial<Usage>): Usage {
  const sum = (name: keyof Usage): number => (one[name] ?? 0) + (other[name] ?? 0);
  return { bytes: sum('bytes'), files: sum('files'), versions: sum('versions'), sessions: sum('sessions') };
}
