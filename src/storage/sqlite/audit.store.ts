import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { toText } from '../plain-text.js';
import { mayNamePath, searchTextsOf, candidatesOf, rangeBelow } from '../event-paths.js';
import { type AuditFilter, type AuditFind, type AuditOrder, AuditStore } from '../ports/audit.store.js';
import {
  type EventRow,
  lastSeq,
  OF_CALL,
  OF_SESSION,
  OF_TURN,
  SELECT_EVENTS,
  toRecord,
} from './audit-rows.js';
import { toAuditEvent } from '../trail-record.js';
import { SqliteDatabase } from './database.js';
import { keysOfCall } from './call-rows.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

/** Events that one step examines: it blocks this thread. */
const STEP_EVENTS = 4_000;
/** Same for all steps of one search. */
const MAX_EVENTS = 40_000;

/** Comparison operators for sequence numbers, by order. */
const COMPARISONS = { asc: { beyond: '>', upTo: '<=' }, desc: { beyond: '<', upTo: '>=' } } as const;

/** The search; `turnId` null: events without a turn. */
type Search = Omit<AuditFilter, 'turnId'> & { turnId?: string | null };

@Injectable()
export class SqliteAuditStore extends AuditStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async page(
    workspaceId: string,
    asked: AuditFilter,
    afterSeq: number,
    limit: number,
    order: AuditOrder = 'asc',
  ): Promise<AuditFind> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return { events: [], nextAfter: null };
    const filter = this.withTurnOfCall(workspace, asked);
    const { where, values } = conditions(filter);
    const comparison = COMPARISONS[order];
    const sql = `${SELECT_EVENTS} ${indexOf(filter)?.name ?? ''}
      WHERE workspace = ? AND seq ${comparison.beyond} ? AND seq ${comparison.upTo} ?${where} ORDER BY seq ${order} LIMIT ?`;
    const events: AuditEvent[] = [];
    const examine = (from: number, to: number): void => {
      const remaining = limit + 1 - events.length;
      const rows = this.database.all<EventRow>(sql, [workspace, from, to, ...values, remaining]);
      for (const row of rows) events.push(toAuditEvent(toRecord(row)));
    };
    const full = (): AuditFind => toResult(events.slice(0, limit), filter, events[limit - 1]!.seq);
    if (fitsAll(filter)) {
      // Every examined event matches, so one step suffices.
      await yieldIfBusy();
      examine(afterSeq, order === 'asc' ? Number.MAX_SAFE_INTEGER : 0);
      return events.length > limit ? full() : toResult(events, filter, null);
    }
    const last = lastSeq(this.database, workspace);
    const end = order === 'asc' ? last : 0;
    let after = order === 'asc' ? afterSeq : Math.min(afterSeq, last + 1);
    const isOver = (): boolean => (order === 'asc' ? after >= last : after <= 1);
    for (let examined = 0; !isOver() && examined < MAX_EVENTS; examined += STEP_EVENTS) {
      await yieldIfBusy();
      const to = this.endOfStep(workspace, filter, after, order) ?? end;
      examine(after, to);
      if (events.length > limit) return full();
      after = to;
    }
    return toResult(events, filter, isOver() ? null : after);
  }

  /** One statement for any number of workspaces. */
  async grownSince(seqs: ReadonlyMap<string, number>): Promise<string[]> {
    const known = [...seqs].flatMap(([workspaceId, seq]) => {
      const workspace = this.workspaces.find(workspaceId);
      return workspace === null ? [] : [[workspace, seq]];
    });
    const sql = `SELECT value ->> 0 FROM json_each(?) WHERE EXISTS
      (SELECT 1 FROM audit_events WHERE workspace = value ->> 0 AND seq > value ->> 1)`;
    const grown = this.database.all<[number]>(sql, [JSON.stringify(known)]);
    return grown.map(([workspace]) => this.workspaces.idOf(workspace));
  }

  /** Finds a call's events among those of its turn, so that no index of calls costs every event. */
  private withTurnOfCall(workspace: number, filter: AuditFilter): Search {
    if (filter.callId === undefined || filter.turnId !== undefined) return filter;
    const sql = 'SELECT turn_id FROM turns WHERE id = ? AND workspace = ?';
    for (const key of keysOfCall(this.database, filter.callId)) {
      const turn = this.database.get<[string]>(sql, [key, workspace]);
      if (turn !== null) return { ...filter, turnId: turn[0] };
    }
    return { ...filter, turnId: null };
  }

  /** The last event that the next step examines; null for the rest of the trail. */
  private endOfStep(workspace: number, filter: Search, after: number, order: AuditOrder): number | null {
    const index = indexOf(filter);
    // The sequence numbers of the whole trail have no gaps.
    if (index === null) return order === 'asc' ? after + STEP_EVENTS : Math.max(0, after - STEP_EVENTS);
    const sql = `SELECT seq FROM audit_events ${index.name}
      WHERE workspace = ? AND seq ${COMPARISONS[order].beyond} ? AND ${index.of}
      ORDER BY seq ${order} LIMIT 1 OFFSET ${STEP_EVENTS - 1}`;
    const row = this.database.get<[number]>(sql, [workspace, after, index.key]);
    return row === null ? null : row[0];
  }

  async latestSuccesses(workspaceId: string, sessionId: string, limit: number): Promise<AuditEvent[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const newest = `SELECT seq FROM audit_events ${OF_SESSION} WHERE workspace = ? AND session_id = ?
      ORDER BY seq DESC LIMIT 1 OFFSET ${STEP_EVENTS}`;
    const after = this.database.get<[number]>(newest, [workspace, sessionId])?.[0] ?? 0;
    const where = 'workspace = ? AND session_id = ? AND seq > ? AND success = 1 ORDER BY seq DESC LIMIT ?';
    return this.database
      .all<EventRow>(`${SELECT_EVENTS} ${OF_SESSION} WHERE ${where}`, [workspace, sessionId, after, limit])
      .map((row) => toAuditEvent(toRecord(row)));
  }
}

/** Whether every examined event matches: the whole trail, or one turn or session. */
function fitsAll(filter: Search): boolean {
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
  return asked.length === 0 || (asked.length === 1 && ['turnId', 'sessionId'].includes(asked[0]![0]));
}

/** The index for a single turn, session or call; null to scan the trail. */
function indexOf({ turnId, sessionId, callId }: Search): { name: string; of: string; key: string } | null {
  if (turnId === null) return { name: OF_CALL, of: 'turn_id IS NULL AND call_id = ?', key: callId! };
  if (turnId !== undefined) return { name: OF_TURN, of: 'turn_id = ?', key: turnId };
  if (sessionId !== undefined) return { name: OF_SESSION, of: 'session_id = ?', key: sessionId };
  return null;
}

function conditions(filter: Search): { where: string; values: SqlValue[] } {
  const clauses: [string, SqlValue | undefined][] = [
    ['session_id = ?', filter.sessionId],
    ['conversation_id = ?', filter.conversationId],
    ['turn_id = ?', filter.turnId ?? undefined],
    ['tool_call_id = ?', textOf(filter.toolCallId)],
    ['call_id = ?', filter.callId],
    ['user_id = ?', filter.userId],
    ['client_id = ?', filter.clientId],
    ['tool_name = ?', textOf(filter.toolName)],
    ['name = ?', filter.event],
    ['success = ?', filter.success === undefined ? undefined : Number(filter.success)],
    ['error_code = ?', textOf(filter.errorCode)],
    ['at >= ?', filter.from],
    ['at <= ?', filter.to],
  ];
  let where = filter.turnId === null ? ' AND turn_id IS NULL' : '';
  const values: SqlValue[] = [];
  for (const [clause, value] of clauses) {
    if (value === undefined) continue;
    where += ` AND ${clause}`;
    values.push(value);
  }
  if (hasPathFilter(filter)) {
    const { clause, operands } = pathCondition(filter);
    where += ` AND (${clause})`;
    values.push(...operands);
  }
  return { where, values };
}

/** Matches events that may name the path: compares its own column, and searches the JSON of the other fields. */
function pathCondition(filter: Search): { clause: string; operands: SqlValue[] } {
  const texts = searchTextsOf(filter);
  const clauses: string[] = [];
  const operands: SqlValue[] = [];
  for (const { path, below } of candidatesOf(filter)) {
    if (path !== undefined) {
      clauses.push('path = ?');
      operands.push(toText(path));
    } else if (below === '') clauses.push('path IS NOT NULL');
    else {
      const { first, end } = rangeBelow(below!);
      clauses.push('(path >= ? AND path < ?)');
      operands.push(first, end);
    }
  }
  clauses.push(...texts.map(() => 'instr(fields, ?) > 0'));
  return { clause: clauses.join(' OR '), operands: [...operands, ...texts] };
}

function hasPathFilter({ path, below }: Search): boolean {
  return path !== undefined || below !== undefined;
}

/** The matching events among those that passed the conditions. */
function toResult(events: readonly AuditEvent[], filter: Search, nextAfter: number | null): AuditFind {
  const fitting = hasPathFilter(filter) ? events.filter((event) => mayNamePath(event, filter)) : events;
  return { events: [...fitting], nextAfter };
}

function textOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : toText(value);
}
