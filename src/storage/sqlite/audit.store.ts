import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '@patchbay/protocol';
import { isoTime } from '../../common/clock.js';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { type AuditFilter, type AuditFind, type AuditOrder, AuditStore } from '../ports/audit.store.js';
import { SqliteDatabase } from './database.js';
import { TrailLog } from './trail-log.js';
import { TrailProjection } from './trail-projection.js';
import { fromRow } from './trail-rows.js';
import { examine, matches } from './trail-search.js';
import { WorkspaceKeys } from './workspace-keys.js';

/** Events that one search examines; fewer for what a session did last. */
const MAX_EVENTS = 40_000;
const MAX_LATEST = 4_000;

@Injectable()
export class SqliteAuditStore extends AuditStore {
  private readonly trail: TrailLog;
  private readonly projection: TrailProjection;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
    this.trail = database.part(TrailLog);
    this.projection = database.part(TrailProjection);
  }

  async page(
    workspaceId: string,
    filter: AuditFilter,
    afterSeq: number,
    limit: number,
    order: AuditOrder = 'asc',
    maxEvents = MAX_EVENTS,
  ): Promise<AuditFind> {
    const workspace = this.workspaces.find(workspaceId);
    const events: AuditEvent[] = [];
    if (workspace === null) return { events, nextAfter: null };
    const lastSeq = this.trail.lastSeq(workspace);
    let [examined, last] = [0, afterSeq];
    const range = { workspace, filter, afterSeq, lastSeq, order, limit };
    for (const step of examine(this.database, this.projection, range)) {
      await yieldIfBusy();
      if (examined >= maxEvents) return { events, nextAfter: last };
      for (const row of step.rows) {
        for (const event of eventsOf(row, filter, order)) {
          if (event.seq < step.first || event.seq > step.last) continue;
          if (events.length === limit) return { events, nextAfter: events.at(-1)!.seq };
          events.push(event);
        }
      }
      examined += step.examined;
      last = order === 'asc' ? step.last : step.first;
    }
    return { events, nextAfter: null };
  }

  /** From memory: this process alone appends. */
  async grownSince(seqs: ReadonlyMap<string, number>): Promise<string[]> {
    return [...seqs.keys()].filter((workspaceId) => {
      const workspace = this.workspaces.find(workspaceId);
      return workspace !== null && this.trail.lastSeq(workspace) > seqs.get(workspaceId)!;
    });
  }

  async latestSuccesses(workspaceId: string, sessionId: string, limit: number): Promise<AuditEvent[]> {
    const filter = { sessionId, success: true };
    const newest = Number.MAX_SAFE_INTEGER;
    return (await this.page(workspaceId, filter, newest, limit, 'desc', MAX_LATEST)).events;
  }
}

/** The matching events of a row in this order. */
function eventsOf([seq, text]: [number, string], filter: AuditFilter, order: AuditOrder): AuditEvent[] {
  const events: AuditEvent[] = [];
  fromRow(text).forEach((event, at) => {
    if (matches(event, filter)) events.push({ ...event, seq: seq + at, at: isoTime(event.at) });
  });
  return order === 'asc' ? events : events.reverse();
}
