import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../common/domain-error.js';
import type { AuditDraft } from '../ports/audit.store.js';
import { toTrailRecord } from '../trail-record.js';
import { MongoDatabase } from './database.js';
import { faultOf } from './faults.js';
import { Gathered } from './gathered.js';
import { toDocument, TRAIL, type TrailDocument } from './trail-collections.js';
import { eq } from './values.js';

/** Events per insert. */
const BATCH = 1_000;
/** Number of workspaces whose last sequence number is cached. */
const MAX_WORKSPACES = 10_000;
/** Attempts against other nodes that write the same numbers; pauses are random, up to a limit that grows. */
const ATTEMPTS = 100;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [4, 100];

/**
 * The trails of all workspaces. eventIds and sequence numbers are unique, so a writer that loses a race rereads the
 * trail and continues after it. A batch stops at the first refused event, so that no number is skipped.
 */
@Injectable()
export class Trail {
  /** The last sequence number that this process knows of; it never decreases. */
  private readonly last = new LRUCache<string, number>({ max: MAX_WORKSPACES });
  private readonly inserts = new Gathered<TrailDocument[], boolean>((batches) => this.insertAll(batches));

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(TRAIL) private readonly events: Model<TrailDocument>,
  ) {}

  /** Appends those that are missing, in this order. When it resolves, a majority has them all. */
  async append(workspaceId: string, drafts: readonly AuditDraft[]): Promise<void> {
    for (let at = 0; at < drafts.length; at += BATCH) {
      await this.appendBatch(workspaceId, drafts.slice(at, at + BATCH));
    }
  }

  /** The newest sequence number; 0 for an empty trail. */
  async lastSeq(workspaceId: string): Promise<number> {
    const last = await this.database.attempt(() =>
      this.events
        .findOne({ workspaceId: eq(workspaceId) }, { _id: 0, seq: 1 })
        .sort({ seq: -1 })
        .lean<{ seq: number }>(),
    );
    return last?.seq ?? 0;
  }

  /** Whether an event is in a trail. */
  async has(eventId: string): Promise<boolean> {
    const found = this.database.attempt(() => this.events.findOne({ _id: eq(eventId) }, { _id: 1 }).lean());
    return (await found) !== null;
  }

  private async appendBatch(workspaceId: string, drafts: readonly AuditDraft[]): Promise<void> {
    const cached = this.last.get(workspaceId);
    // The insert is refused if another node has written since, or some events are present.
    if (cached !== undefined && (await this.insert(workspaceId, cached, drafts))) return;
    for (let count = 1; count <= ATTEMPTS; count += 1) {
      const [last, present] = await Promise.all([this.lastSeq(workspaceId), this.presentOf(drafts)]);
      const missing = drafts.filter(({ eventId }) => !present.has(eventId));
      if (missing.length === 0 || (await this.insert(workspaceId, last, missing))) return;
      await setTimeout(Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** count, LONGEST_PAUSE_MS));
    }
    throw new DomainError('UNAVAILABLE', 'Too many writers of the trail of this workspace.', {
      retryAfterSeconds: 1,
    });
  }

  /** Which of these are in a trail. */
  private async presentOf(drafts: readonly AuditDraft[]): Promise<Set<string>> {
    const _id = { $in: drafts.map(({ eventId }) => eventId) };
    const found = await this.database.attempt(() => this.events.find({ _id }, { _id: 1 }).lean());
    return new Set(found.map((event) => event._id));
  }

  /** Inserts after sequence number `last`. False if one may have been refused; then a prefix may be stored. */
  private async insert(workspaceId: string, last: number, drafts: readonly AuditDraft[]): Promise<boolean> {
    const documents = drafts.map((draft, at) =>
      toDocument({ workspaceId, ...toTrailRecord(last + 1 + at, draft) }),
    );
    const isDone = await this.inserts.of(documents);
    if (isDone) this.last.set(workspaceId, last + documents.length);
    else this.last.delete(workspaceId);
    return isDone;
  }

  /** Inserts for several workspaces, up to the first refused event; each workspace checks its own result. */
  private async insertAll(batches: readonly TrailDocument[][]): Promise<boolean[]> {
    const isDone = await this.database.attempt(async () => {
      try {
        await this.events.db.collection<TrailDocument>(TRAIL).insertMany(batches.flat(), { ordered: true });
        return true;
      } catch (error) {
        if (faultOf(error) === 'duplicate') return false;
        throw error;
      }
    });
    return batches.map(() => isDone);
  }
}
