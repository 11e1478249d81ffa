import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '@patchbay/protocol';
import { toText } from '../plain-text.js';
import { type AuditFilter, type AuditFind, AuditStore } from '../ports/audit.store.js';
import {
  type EventRow,
  lastSeq,
  OF_CALL,
  OF_SESSION,
  OF_TURN,
  SELECT_EVENTS,
  toEvent,
} from './audit-rows.js';
import { SqliteDatabase } from './database.js';
import { keysOfCall } from './call-rows.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

/** Events that one step looks at: everything else on this thread waits meanwhile. */
const STEP_EVENTS = 4_000;
/** And all steps of one search. */
const MOST_EVENTS = 40_000;

/** What is looked for; `turnId` null: in no turn. */
type Search = Omit<AuditFilter, 'turnId'> & { turnId?: string | null };

@Injectable()
export class SqliteAuditStore extends AuditStore {
  private turns: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async page(workspaceId: string, asked: AuditFilter, afterSeq: number, limit: number): Promise<AuditFind> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return { events: [], nextAfter: null };
    const filter = this.withTurnOfCall(workspace, asked);
    const { where, values } = conditions(filter);
    const last = lastSeq(this.database, workspace);
    const events: AuditEvent[] = [];
    let after = afterSeq;
    for (let seen = 0; after < last && seen < MOST_EVENTS; seen += STEP_EVENTS) {
      await this.turn();
      const to = this.endOfStep(workspace, filter, after) ?? last;
      const rows = this.database.all<EventRow>(
        `${SELECT_EVENTS} ${indexOf(filter)?.name ?? ''} WHERE workspace = ? AND seq > ? AND seq <= ?${where}
         ORDER BY seq LIMIT ?`,
        [workspace, after, to, ...values, limit + 1 - events.length],
      );
      for (const row of rows) events.push(toEvent(row));
      if (events.length > limit) return { events: events.slice(0, limit), nextAfter: events[limit - 1]!.seq };
      after = to;
    }
    return { events, nextAfter: after < last ? after : null };
  }

  /** The events of a call are among those of its turn, so they need no index of their own: it would cost every event. */
  private withTurnOfCall(workspace: number, filter: AuditFilter): Search {
    if (filter.callId === undefined || filter.turnId !== undefined) return filter;
    const sql = 'SELECT turn_id FROM turns WHERE id = ? AND workspace = ?';
    for (const key of keysOfCall(this.database, filter.callId)) {
      const turn = this.database.get<[string]>(sql, [key, workspace]);
      if (turn !== null) return { ...filter, turnId: turn[0] };
    }
    return { ...filter, turnId: null };
  }

  /** The last event of those that the next step looks at; null where they are all that is left. */
  private endOfStep(workspace: number, filter: Search, after: number): number | null {
    const index = indexOf(filter);
    // The trail as a whole has no gaps.
    if (index === null) return after + STEP_EVENTS;
    const sql = `SELECT seq FROM audit_events ${index.name} WHERE workspace = ? AND seq > ? AND ${index.of}
      ORDER BY seq LIMIT 1 OFFSET ${STEP_EVENTS - 1}`;
    const row = this.database.get<[number]>(sql, [workspace, after, index.key]);
    return row === null ? null : row[0];
  }

  /** Of all searches that go on one makes a step, then whatever else there is to do on this thread has its turn. */
  private turn(): Promise<void> {
    return (this.turns = this.turns.then(() => setImmediate()));
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
      .map(toEvent);
  }
}

/** Where one turn, session or call alone is asked for; null for anything else, which goes along the trail. */
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
    ['client_id = ?', filter.clientId],
    ['tool_name = ?', textOf(filter.toolName)],
    ['name = ?', filter.event],
    ['success = ?', filter.success === undefined ? undefined : Number(filter.success)],
    ['error_code = ?', textOf(filter.errorCode)],
    ['path = ?', textOf(filter.path)],
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
  return { where, values };
}

function textOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : toText(value);
}
