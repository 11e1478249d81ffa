import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter, type UpdateQuery } from 'mongoose';
import { NO_USAGE } from '../transfer/records.js';
import { type Usage, UsageCounts } from '../ports/usage.store.js';
import { MongoDatabase } from './database.js';
import { type UsageDocument, USAGE } from './usage-collections.js';
import { eq } from './values.js';

/** How long counts wait to be merged with others of their workspace, ms. */
const FLUSH_MS = 50;

/** Counts usage after writes, merged. `patchbay-admin check --repair` corrects counts lost by a crash or a fault. */
@Injectable()
export class UsageCounter extends UsageCounts implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Storage');
  /** By workspace, then user. */
  private waiting = new Map<string, Map<string, Usage>>();
  private flushing: Promise<void> = Promise.resolve();
  private flushTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(USAGE) private readonly usage: Model<UsageDocument>,
  ) {
    super();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.flush();
  }

  /** Resolves at once; the count is written later. */
  async count(workspaceId: string, userId: string, added: Partial<Usage>): Promise<void> {
    const ofWorkspace = this.waiting.get(workspaceId) ?? new Map<string, Usage>();
    this.waiting.set(workspaceId, ofWorkspace);
    ofWorkspace.set(userId, sumOf(ofWorkspace.get(userId) ?? {}, added));
    this.flushTimer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Resolves when every earlier count is written, or lost. */
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
      for (const [userId, added] of byUser) await this.add(workspaceId, userId, added);
    } catch (error) {
      const reason = (error as Error).message;
      this.logger.warn(
        { workspaceId, reason },
        'Usage was not counted: patchbay-admin check --repair counts again',
      );
    }
  }

  /** Not retried after a transient fault: it may have succeeded, and is not idempotent. */
  private async add(workspaceId: string, userId: string, added: Usage): Promise<void> {
    const _id = eq(workspaceId);
    for (;;) {
      const $inc = { ...added, ...memberFields(added) };
      if (await this.update({ _id, 'members.userId': eq(userId) }, { $inc })) return;
      const $push = { members: { userId, ...added } };
      if (await this.update({ _id, 'members.userId': { $ne: userId } }, { $inc: added, $push })) return;
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

function memberFields(added: Usage): { [path: string]: number } {
  return Object.fromEntries(Object.entries(added).map(([name, by]) => [`members.$.${name}`, by]));
}

export function sumOf(one: Partial<Usage>, other: Partial<Usage>): Usage {
  const sum = (name: keyof Usage): number => (one[name] ?? 0) + (other[name] ?? 0);
  return { bytes: sum('bytes'), files: sum('files'), versions: sum('versions'), sessions: sum('sessions') };
}
