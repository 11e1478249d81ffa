import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter, type UpdateQuery } from 'mongoose';
import { NO_USAGE } from '../transfer/records.js';
import type { Usage } from '../ports/usage.store.js';
import { MongoDatabase } from './database.js';
import { type UsageDocument, USAGE } from './usage-collections.js';
import { eq } from './values.js';

/** How long counts wait for others of their workspace. */
const FLUSH_MS = 50;

/** Counts after the write, many at once. A count that a crash or a fault loses is set right by `patchbay-admin check --repair`. */
@Injectable()
export class UsageCounter implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Storage');
  /** By workspace and user. */
  private waiting = new Map<string, Map<string, Usage>>();
  private flushing: Promise<void> = Promise.resolve();
  private flushTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(USAGE) private readonly usage: Model<UsageDocument>,
  ) {}

  beforeApplicationShutdown(): Promise<void> {
    return this.flush();
  }

  /** Counts what a write has added, or taken away, for the workspace and for a user in it. */
  count(workspaceId: string, userId: string, more: Partial<Usage>): void {
    const ofWorkspace = this.waiting.get(workspaceId) ?? new Map<string, Usage>();
    this.waiting.set(workspaceId, ofWorkspace);
    ofWorkspace.set(userId, sumOf(ofWorkspace.get(userId) ?? {}, more));
    this.flushTimer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Resolves once everything that was counted before is written, or is lost. */
  flush(): Promise<void> {
    clearTimeout(this.flushTimer);
    this.flushTimer = undefined;
    const due = this.waiting;
    this.waiting = new Map();
    if (due.size > 0) {
      this.flushing = this.flushing.then(async () => {
        await Promise.all([...due].map(([workspaceId, byUser]) => this.write(workspaceId, byUser)));
      });
    }
    return this.flushing;
  }

  private async write(workspaceId: string, byUser: ReadonlyMap<string, Usage>): Promise<void> {
    try {
      for (const [userId, more] of byUser) await this.add(workspaceId, userId, more);
    } catch (error) {
      const reason = (error as Error).message;
      this.logger.warn(
        { workspaceId, reason },
        'Usage was not counted: patchbay-admin check --repair counts again',
      );
    }
  }

  /** Not tried again where it fails in passing: it may have been done. */
  private async add(workspaceId: string, userId: string, more: Usage): Promise<void> {
    const _id = eq(workspaceId);
    for (;;) {
      const $inc = { ...more, ...ofTheMember(more) };
      if (await this.update({ _id, 'members.userId': eq(userId) }, { $inc })) return;
      const $push = { members: { userId, ...more } };
      if (await this.update({ _id, 'members.userId': { $ne: userId } }, { $inc: more, $push })) return;
      await this.database.insert(this.usage, { _id: workspaceId, ...NO_USAGE, members: [] });
    }
  }

  private async update(
    filter: QueryFilter<UsageDocument>,
    update: UpdateQuery<UsageDocument>,
  ): Promise<boolean> {
    return (await this.usage.updateOne(filter, update)).matchedCount === 1;
  }
}

function ofTheMember(more: Usage): { [path: string]: number } {
  return Object.fromEntries(Object.entries(more).map(([name, by]) => [`members.$.${name}`, by]));
}

export function sumOf(one: Partial<Usage>, other: Partial<Usage>): Usage {
  const sum = (name: keyof Usage): number => (one[name] ?? 0) + (other[name] ?? 0);
  return { bytes: sum('bytes'), files: sum('files'), versions: sum('versions'), sessions: sum('sessions') };
}
