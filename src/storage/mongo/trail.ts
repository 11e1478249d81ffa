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

/** Events that are written at once. */
const BATCH = 1_000;
/** Workspaces of which the last number is kept in memory. */
const MOST_WORKSPACES = 10_000;
/** How often another node may be faster with the same numbers; in between a random part of a time that grows to a limit. */
const ATTEMPTS = 100;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [4, 100];

/**
 * The trails of all workspaces. An event is in its trail once, by its eventId, and so is a number: so whoever is not the first
 * with either looks what is there, and goes on behind it. As a batch ends at the first event that is refused, no number
 * is left out.
 */
@Injectable()
export class Trail {
  /** The numbers of the events that this process was the last to write, as far as it knows: they never become less. */
  private readonly last = new LRUCache<string, number>({ max: MOST_WORKSPACES });
  private readonly inserts = new Gathered<TrailDocument[], boolean>((batches) => this.insertAll(batches));

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(TRAIL) private readonly events: Model<TrailDocument>,
  ) {}

  /** Appends those that are not there yet, in this order. Afterwards a majority has them all. */
  async append(workspaceId: string, drafts: readonly AuditDraft[]): Promise<void> {
    for (let at = 0; at < drafts.length; at += BATCH) {
      await this.appendBatch(workspaceId, drafts.slice(at, at + BATCH));
    }
  }

  /** The newest number; 0 where the trail is empty. */
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
    const known = this.last.get(workspaceId);
    // Where somebody else has written there since, or some of these, the insert is refused.
    if (known !== undefined && (await this.insert(workspaceId, known, drafts))) return;
    for (let count = 1; count <= ATTEMPTS; count += 1) {
      const [last, there] = await Promise.all([this.lastSeq(workspaceId), this.thoseOf(drafts)]);
      const missing = drafts.filter(({ eventId }) => !there.has(eventId));
      if (missing.length === 0 || (await this.insert(workspaceId, last, missing))) return;
      await setTimeout(Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** count, LONGEST_PAUSE_MS));
    }
    throw new DomainError('UNAVAILABLE', 'Too many writers of the trail of this workspace.', {
      retryAfterSeconds: 1,
    });
  }

  /** Which of these are in a trail. */
  private async thoseOf(drafts: readonly AuditDraft[]): Promise<Set<string>> {
    const _id = { $in: drafts.map(({ eventId }) => eventId) };
    const found = await this.database.attempt(() => this.events.find({ _id }, { _id: 1 }).lean());
    return new Set(found.map((event) => event._id));
  }

  /** Behind the number `last`. False where one may have been refused: then some of them, in their order, may be there. */
  private async insert(workspaceId: string, last: number, drafts: readonly AuditDraft[]): Promise<boolean> {
    const documents = drafts.map((draft, at) =>
      toDocument({ workspaceId, ...toTrailRecord(last + 1 + at, draft) }),
    );
    const isDone = await this.inserts.of(documents);
    if (isDone) this.last.set(workspaceId, last + documents.length);
    else this.last.delete(workspaceId);
    return isDone;
  }

  /** Of several workspaces, whole or up to the first that is refused: whose that is, each of them looks for itself. */
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
