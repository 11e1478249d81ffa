import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { AuditEvent } from '@patchbay/protocol';
import { Model, type QueryFilter } from 'mongoose';
import { toText } from '../plain-text.js';
import { mayNamePath, searchTextsOf, candidatesOf, rangeBelow, type PathQuery } from '../event-paths.js';
import { type AuditFilter, type AuditFind, type AuditOrder, AuditStore } from '../ports/audit.store.js';
import { toAuditEvent } from '../trail-record.js';
import { MongoDatabase } from './database.js';
import { Projector } from './projector.js';
import { toRecord, TRAIL, TRAIL_INDEXES, type TrailDocument } from './trail-collections.js';
import { Trail } from './trail.js';
import { checked, eq } from './values.js';

type Filter = QueryFilter<TrailDocument>;

/** Events that one search examines if only some of them match. */
const MAX_EVENTS = 40_000;
/** Same for the search for the latest successes. */
const LATEST_EVENTS = 4_000;

interface Search {
  /** A name in `TRAIL_INDEXES`. */
  index: string;
  /** The condition that the index serves, in the order of the trail. */
  indexed: Filter;
  /** The remaining condition; null if the index finds only matches. */
  remaining: Filter | null;
}

/** Empties the outboxes of the workspace first, so that results include every acknowledged event. */
@Injectable()
export class MongoAuditStore extends AuditStore {
  constructor(
    private readonly database: MongoDatabase,
    private readonly projector: Projector,
    private readonly trail: Trail,
    @InjectModel(TRAIL) private readonly events: Model<TrailDocument>,
  ) {
    super();
  }

  async page(
    workspaceId: string,
    filter: AuditFilter,
    afterSeq: number,
    limit: number,
    order: AuditOrder = 'asc',
  ): Promise<AuditFind> {
    await this.projector.drain(workspaceId);
    const { index, indexed, remaining } = searchOf(workspaceId, filter);
    // If the index finds only matches, the search needs no bound.
    const to =
      remaining === null ? null : await this.endOfSearch(workspaceId, index, indexed, afterSeq, order);
    const [beyond, upTo, direction] =
      order === 'asc' ? (['$gt', '$lte', 1] as const) : (['$lt', '$gte', -1] as const);
    const seq = { [beyond]: checked(afterSeq), ...(to === null ? {} : { [upTo]: to }) };
    const found = await this.find({ ...indexed, ...remaining, seq }, index, direction, limit + 1);
    const events = found.slice(0, limit);
    const nextAfter = found.length > limit ? events.at(-1)!.seq : to;
    const hasPathFilter = filter.path !== undefined || filter.below !== undefined;
    return {
      events: hasPathFilter ? events.filter((event) => mayNamePath(event, filter)) : events,
      nextAfter,
    };
  }

  async latestSuccesses(workspaceId: string, sessionId: string, limit: number): Promise<AuditEvent[]> {
    await this.projector.drain(workspaceId);
    const { index, indexed } = searchOf(workspaceId, { sessionId });
    const after = (await this.nthSeq(LATEST_EVENTS, indexed, index, -1)) ?? 0;
    return this.find({ ...indexed, seq: { $gt: after }, success: eq(true) }, index, -1, limit);
  }

  /** One query along the index. Events that still wait in an outbox are found once they are in the trail. */
  async grownSince(seqs: ReadonlyMap<string, number>): Promise<string[]> {
    if (seqs.size === 0) return [];
    const $or = [...seqs].map(([workspaceId, seq]) => ({
      workspaceId: eq(workspaceId),
      seq: { $gt: checked(seq) },
    }));
    const found = await this.database.attempt(() =>
      this.events
        .find({ $or }, { _id: 0, workspaceId: 1 })
        .limit(MAX_EVENTS)
        .lean<{ workspaceId: string }[]>(),
    );
    return [...new Set(found.map(({ workspaceId }) => workspaceId))];
  }

  /** The sequence number at which a bounded search stops; null if it reaches the end of the trail. */
  private async endOfSearch(
    workspaceId: string,
    index: string,
    indexed: Filter,
    after: number,
    order: AuditOrder,
  ): Promise<number | null> {
    const isUp = order === 'asc';
    if (index !== TRAIL_INDEXES.all.name) {
      const seq = isUp ? { $gt: checked(after) } : { $lt: checked(after) };
      return this.nthSeq(MAX_EVENTS - 1, { ...indexed, seq }, index, isUp ? 1 : -1);
    }
    // The sequence numbers of the whole trail have no gaps.
    const last = await this.trail.lastSeq(workspaceId);
    const end = isUp ? after + MAX_EVENTS : Math.min(after, last + 1) - MAX_EVENTS;
    return (isUp ? end < last : end > 1) ? end : null;
  }

  /** The sequence number of the event after this many others; null if there are no more. */
  private async nthSeq(
    skipped: number,
    indexed: Filter,
    index: string,
    order: 1 | -1,
  ): Promise<number | null> {
    const found = await this.database.attempt(() =>
      this.events
        .findOne(indexed, { _id: 0, seq: 1 })
        .sort({ seq: order })
        .skip(skipped)
        .hint(index)
        .lean<{ seq: number }>(),
    );
    return found?.seq ?? null;
  }

  private async find(filter: Filter, index: string, order: 1 | -1, limit: number): Promise<AuditEvent[]> {
    const found = await this.database.attempt(() =>
      this.events.find(filter).sort({ seq: order }).limit(limit).hint(index).lean<TrailDocument[]>(),
    );
    return found.map((document) => toAuditEvent(toRecord(document)));
  }
}

/** A call has few events, a turn more, a session many. Other searches scan the trail. */
function searchOf(workspaceId: string, filter: AuditFilter): Search {
  const narrowest = (['callId', 'turnId', 'sessionId'] as const).find((field) => filter[field] !== undefined);
  const indexed: Filter = { workspaceId: eq(workspaceId) };
  if (narrowest !== undefined) indexed[narrowest] = eq(filter[narrowest]!);
  const { event, from, to, toolCallId, toolName, errorCode, path, below, folders, ...names } = filter;
  const remaining: Filter = {};
  const exact = { ...names, name: event, ...textsOf({ toolCallId, toolName, errorCode }) };
  for (const [field, value] of Object.entries(exact)) {
    if (value !== undefined && field !== narrowest) remaining[field] = eq(value);
  }
  if (from !== undefined || to !== undefined) {
    remaining.at = {
      ...(from === undefined ? {} : { $gte: checked(from) }),
      ...(to === undefined ? {} : { $lte: checked(to) }),
    };
  }
  if (path !== undefined || below !== undefined) remaining.$or = pathConditions({ path, below, folders });
  const isAll = Object.keys(remaining).length === 0;
  return { index: TRAIL_INDEXES[narrowest ?? 'all'].name, indexed, remaining: isAll ? null : remaining };
}

/** Matches events that may name the path: compares its own field, and searches the JSON of the others. */
function pathConditions(query: PathQuery): Filter[] {
  const inFields = searchTextsOf(query).map((text) => ({
    fields: { $regex: escapePattern(checked(text)) },
  }));
  return [...candidatesOf(query).map(ownPathCondition), ...inFields];
}

function ownPathCondition({ path, below }: PathQuery): Filter {
  if (path !== undefined) return { path: eq(toText(path)) };
  if (below === '') return { path: { $ne: null } };
  const { first, end } = rangeBelow(checked(below!));
  return { path: { $gte: first, $lt: end } };
}

/** A regular expression source that matches exactly this text. */
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Encodes texts as `toTrailRecord` does. */
function textsOf(texts: { [field: string]: string | undefined }): { [field: string]: string | undefined } {
  return Object.fromEntries(
    Object.entries(texts).map(([field, value]) => [field, value === undefined ? value : toText(value)]),
  );
}
