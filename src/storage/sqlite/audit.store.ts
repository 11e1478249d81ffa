import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '@patchbay/protocol';
import { type AuditFilter, AuditStore } from '../ports/audit.store.js';
import { type EventRow, lastSeq, OF_SESSION, OF_TURN, SELECT_EVENTS, toEvent } from './audit-rows.js';
import { SqliteDatabase } from './database.js';
import { type SqlValue, toText } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

/** Rows that one step may look at where no index narrows the search. */
const SCAN_STEP = 20_000;

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
    filter: AuditFilter,
    afterSeq: number,
    limit: number,
  ): Promise<AuditEvent[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const { where, values } = conditions(filter);
    const index = filter.turnId !== undefined ? OF_TURN : filter.sessionId !== undefined ? OF_SESSION : null;
    const sql = `${SELECT_EVENTS} ${index ?? ''} WHERE workspace = ? AND seq > ? AND seq <= ?${where}
      ORDER BY seq LIMIT ?`;
    const last = lastSeq(this.database, workspace);
    const events: AuditEvent[] = [];
    // A long search goes step by step, because the calls of every other workspace wait while one step runs.
    for (let from = afterSeq; from < last && events.length < limit;) {
      const to = index !== null ? last : Math.min(from + SCAN_STEP, last);
      const rows = this.database.all<EventRow>(sql, [workspace, from, to, ...values, limit - events.length]);
      for (const row of rows) events.push(toEvent(row));
      from = to;
      if (from < last) await setImmediate();
    }
    return events;
  }

  async latestSuccesses(workspaceId: string, sessionId: string, limit: number): Promise<AuditEvent[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const where = 'workspace = ? AND session_id = ? AND success = 1 ORDER BY seq DESC LIMIT ?';
    return this.database
      .all<EventRow>(`${SELECT_EVENTS} ${OF_SESSION} WHERE ${where}`, [workspace, sessionId, limit])
      .map(toEvent);
  }
}

function conditions(filter: AuditFilter): { where: string; values: SqlValue[] } {
  const clauses: [string, SqlValue | undefined][] = [
    ['session_id = ?', filter.sessionId],
    ['conversation_id = ?', filter.conversationId],
    ['turn_id = ?', filter.turnId],
    ['tool_call_id = ?', textOf(filter.toolCallId)],
    ['tool_name = ?', textOf(filter.toolName)],
    ['name = ?', filter.event],
    ['success = ?', filter.success === undefined ? undefined : Number(filter.success)],
    ['error_code = ?', textOf(filter.errorCode)],
    ['path = ?', textOf(filter.path)],
    ['at >= ?', filter.from],
    ['at <= ?', filter.to],
  ];
  let where = '';
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
