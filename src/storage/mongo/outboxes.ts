import type { AnyBulkWriteOperation, Model } from 'mongoose';
import { newId } from '../../common/ids.js';
import { valueOf } from '../../common/json-text.js';
import type { AuditDraft } from '../ports/audit.store.js';
import type { MongoDatabase } from './database.js';
import { Gathered } from './gathered.js';
import type { OutboxEntry, WithOutbox } from './outbox.js';
import type { TurnTexts } from './turn-texts.js';
import { bytesOf } from './turn-values.js';
import { eq } from './values.js';

export type OutboxDocument = WithOutbox & { _id: string };
type Source = Model<OutboxDocument>;
type Updates = AnyBulkWriteOperation<OutboxDocument>[];

/** Approximate limits of one look: aggregates, and bytes of their events. */
const [MAX_AGGREGATES, MAX_BYTES] = [200, 4_000_000];
/** Selected aggregates that are read at once: each may have an outbox of several megabytes. */
const READ_CONCURRENCY = 16;

/** An outbox as it was read. */
export interface Outbox {
  readonly source: Source;
  readonly _id: string;
  readonly workspaceId: string | null;
  readonly outboxWrites: number;
  readonly entries: readonly OutboxEntry[];
}

/** The result of a look. */
export interface Look {
  outboxes: Outbox[];
  /** An eventId: the look contains every event that was written before. */
  began: string;
  /** Null if complete. Else eventIds: no unread outbox has an event before `oldest`; `newest` is the last of all. */
  more: { oldest: string; newest: string } | null;
}

/** The first and the newest eventId of an outbox. */
interface Head {
  source: Source;
  _id: string;
  eventId: string;
  newest: string;
}

/** The first events of an outbox, which are in the trail. */
export interface Projected {
  readonly outbox: Outbox;
  readonly entries: readonly OutboxEntry[];
}

const READ = { outbox: 1, outboxWrites: 1, pendingIn: 1 } as const;
const HEADS = { 'outbox.eventId': 1 } as const;

/** The outboxes of all aggregates, in every collection. */
export class Outboxes {
  private readonly lookBatches = new Gathered<string, Look>((ids) => this.lookAll(ids));
  private readonly writes: ReadonlyMap<Source, Gathered<Updates, boolean>>;

  constructor(
    private readonly database: MongoDatabase,
    private readonly sources: readonly Source[],
    private readonly texts: TurnTexts,
  ) {
    this.writes = new Map(
      sources.map((source) => {
        const write = async (all: readonly Updates[]): Promise<boolean[]> => {
          const matched = await this.writeAll(source, all.flat());
          return all.map(() => matched);
        };
        return [source, new Gathered(write)];
      }),
    );
  }

  /** Whether any event waits in the workspace. */
  async isWaiting(workspaceId: string): Promise<boolean> {
    const waiting = { pendingIn: eq(workspaceId) };
    const found = await Promise.all(
      this.sources.map((source) =>
        this.database.attempt(() => source.findOne(waiting, { _id: 1 }).lean<{ _id: string }>()),
      ),
    );
    return found.some((one) => one !== null);
  }

  /** Up to `limit` workspaces per collection with waiting events, ordered by id. */
  async workspacesWaiting(limit: number): Promise<Set<string>> {
    const found = new Set<string>();
    for (const source of this.sources) {
      let after = '';
      for (let count = 0; count < limit; count += 1) {
        const later = { pendingIn: { $gt: after } };
        const next = await this.database.attempt(() =>
          source
            .findOne(later, { _id: 0, pendingIn: 1 })
            .sort({ pendingIn: 1 })
            .lean<{ pendingIn: string }>(),
        );
        if (next === null) break;
        found.add((after = next.pendingIn));
      }
    }
    return found;
  }

  /** The waiting events of the workspace: all, or if these are too many, those of the aggregates that wait longest. */
  async look(workspaceId: string): Promise<Look> {
    return this.lookBatches.of(eq(workspaceId).$eq);
  }

  /** The drafts of these entries. */
  async draftsOf(entries: readonly OutboxEntry[]): Promise<AuditDraft[]> {
    const drafts = await this.texts.read(entries.map(({ draft }) => draft));
    return (await Promise.all(drafts.map(valueOf))) as unknown as AuditDraft[];
  }

  /** Removes events that are in the trail from the outboxes; idempotent. */
  async remove(projected: readonly Projected[]): Promise<void> {
    const changed = projected.filter(
      ({ outbox, entries }) => isWhole({ outbox, entries }) || entries.length > 0,
    );
    for (const source of this.sources) {
      const own = changed.filter(({ outbox }) => outbox.source === source);
      // The others received more events meanwhile, or were taken in part.
      if (!(await this.write(source, own.filter(isWhole).map(emptyUpdate))) || !own.every(isWhole))
        await this.write(source, own.map(pullUpdate));
    }
  }

  /** Whether all updates matched; concurrent ones are written together. */
  private async write(source: Source, updates: Updates): Promise<boolean> {
    return updates.length === 0 || this.writes.get(source)!.of(updates);
  }

  /** Losing this write is harmless, so it waits for neither a majority nor the journal. */
  private async writeAll(source: Source, updates: Updates): Promise<boolean> {
    const options = { ordered: false, writeConcern: { w: 1, journal: false } } as const;
    const { matchedCount } = await this.database.attempt(() => source.bulkWrite(updates, options));
    return matchedCount === updates.length;
  }

  private async lookAll(workspaceIds: readonly string[]): Promise<Look[]> {
    const began = newId();
    const found = await Promise.all(this.sources.map((source) => this.readAll(source, workspaceIds)));
    if (!found.includes(null)) {
      const all = found.flatMap((outboxes) => outboxes!);
      return workspaceIds.map((id) => {
        return { outboxes: all.filter(({ workspaceId }) => workspaceId === id), began, more: null };
      });
    }
    if (workspaceIds.length === 1) return [{ ...(await this.oldest(workspaceIds[0]!)), began }];
    return (await Promise.all(workspaceIds.map((id) => this.lookAll([id])))).flat();
  }

  /** Null if that is too much for one look. */
  private readAll(source: Source, workspaceIds: readonly string[]): Promise<Outbox[] | null> {
    return this.database.attempt(async () => {
      const waiting = source.find({ pendingIn: { $in: workspaceIds } }, READ).lean<OutboxDocument[]>();
      const outboxes: Outbox[] = [];
      let bytes = 0;
      for await (const document of waiting.cursor()) {
        if (outboxes.length === MAX_AGGREGATES || bytes > MAX_BYTES) return null;
        outboxes.push(outboxOf(source, document));
        bytes += bytesIn(document);
      }
      return outboxes;
    });
  }

  /** Reads only the eventIds of all waiting events, then whole entries of the oldest outboxes. */
  private async oldest(workspaceId: string): Promise<Omit<Look, 'began'>> {
    const heads = (await Promise.all(this.sources.map((source) => this.heads(source, workspaceId)))).flat();
    heads.sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
    const outboxes: Outbox[] = [];
    let [at, bytes] = [0, 0];
    for (; at < heads.length && at < MAX_AGGREGATES && bytes < MAX_BYTES; at += READ_CONCURRENCY) {
      const chosen = heads.slice(at, at + READ_CONCURRENCY);
      for (const source of this.sources) {
        const ids = chosen.filter((head) => head.source === source).map(({ _id }) => _id);
        if (ids.length === 0) continue;
        const found = await this.database.attempt(() =>
          source.find({ _id: { $in: ids } }, READ).lean<OutboxDocument[]>(),
        );
        for (const document of found) {
          outboxes.push(outboxOf(source, document));
          bytes += bytesIn(document);
        }
      }
    }
    const oldest = heads[at]?.eventId;
    const newest = heads.reduce((last, head) => (head.newest > last ? head.newest : last), '');
    return { outboxes, more: oldest === undefined ? null : { oldest, newest } };
  }

  private heads(source: Source, workspaceId: string): Promise<Head[]> {
    return this.database.attempt(async () => {
      const waiting = source.find({ pendingIn: eq(workspaceId) }, HEADS).lean<OutboxDocument[]>();
      const heads = [];
      for await (const { _id, outbox } of waiting.cursor()) {
        const eventIds = outbox.map(({ eventId }) => eventId);
        heads.push({ source, _id, eventId: eventIds[0] ?? '', newest: eventIds.sort().at(-1) ?? '' });
      }
      return heads;
    });
  }
}

function outboxOf(source: Source, { _id, pendingIn, outboxWrites, outbox }: OutboxDocument): Outbox {
  return { source, _id, workspaceId: pendingIn, outboxWrites, entries: outbox };
}

function bytesIn({ outbox }: OutboxDocument): number {
  return outbox.reduce((sum, { draft }) => sum + bytesOf(draft), 0);
}

function isWhole({ outbox, entries }: Projected): boolean {
  return entries.length === outbox.entries.length;
}

function emptyUpdate({ outbox: { _id, outboxWrites } }: Projected): AnyBulkWriteOperation<OutboxDocument> {
  const filter = { _id: eq(_id), outboxWrites: eq(outboxWrites) };
  return { updateOne: { filter, update: { $set: { outbox: [], pendingIn: null } } } };
}

/** Does not match outboxes that `emptyUpdate` has emptied. */
function pullUpdate(projected: Projected): AnyBulkWriteOperation<OutboxDocument> {
  const { _id, outboxWrites } = projected.outbox;
  const eventIds = projected.entries.map(({ eventId }) => eventId);
  const filter = { _id: eq(_id), ...(isWhole(projected) ? { outboxWrites: { $ne: outboxWrites } } : {}) };
  return { updateOne: { filter, update: { $pull: { outbox: { eventId: { $in: eventIds } } } } } };
}
