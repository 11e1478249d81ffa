import { Injectable } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import type { Turn, TurnRef } from '../ports/turn.js';
import type { AuditDraft } from '../ports/audit.store.js';
import { type CallResult, type TurnInsert, type TurnLimits, TurnStore } from '../ports/turns.store.js';
import { appendEvents } from './audit-rows.js';
import { SqliteDatabase } from './database.js';
import * as rows from './turn-rows.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

const OF_KEY = 'workspace = ? AND user_id = ? AND idempotency_key = ?';

@Injectable()
export class SqliteTurnStore extends TurnStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async insert(
    turn: Turn,
    callArguments: readonly Json[],
    results: readonly CallResult[],
    events: readonly AuditDraft[],
    limits: TurnLimits,
  ): Promise<TurnInsert> {
    const workspace = this.workspaces.require(turn.workspaceId);
    return this.database.write(() => {
      const byTurnId = this.read(workspace, turn);
      const key = turn.idempotencyKey;
      const byKey = key === null ? null : this.ofKey(workspace, turn.userId, key, limits.keysSince);
      if (byTurnId !== null || byKey !== null) return { outcome: 'exists', byTurnId, byKey };
      if (turn.status === 'open' && this.countOpen(workspace) >= limits.maxOpenTurns) {
        return { outcome: 'too_many_open' };
      }
      if (key !== null) this.releaseKey(workspace, turn.userId, key);
      const id = rows.insertTurn(this.database, workspace, turn);
      rows.insertArguments(this.database, id, callArguments);
      rows.insertResults(this.database, id, turn, results);
      appendEvents(this.database, workspace, events);
      return { outcome: 'inserted' };
    });
  }

  async save(
    turn: Turn,
    expectedVersion: number,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    const workspace = this.workspaces.require(turn.workspaceId);
    return this.database.write(() => {
      const current = this.database.get<[number, string, number | null]>(
        `SELECT id, status, due_at FROM turns
         WHERE workspace = ? AND turn_id = ? AND session_id = ? AND version = ?`,
        [workspace, turn.turnId, turn.sessionId, expectedVersion],
      );
      if (current === null) return false;
      const [id, status, dueAt] = current;
      rows.updateTurn(this.database, id, turn, { status, dueAt });
      rows.insertResults(this.database, id, turn, results);
      appendEvents(this.database, workspace, events);
      return true;
    });
  }

  async record(workspaceId: string, events: readonly AuditDraft[]): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => appendEvents(this.database, workspace, events));
  }

  async find(ref: TurnRef): Promise<Turn | null> {
    const workspace = this.workspaces.find(ref.workspaceId);
    return workspace === null ? null : this.read(workspace, ref);
  }

  async ofCall(workspaceId: string, turnId: string, callId: string): Promise<Turn | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const turns = this.select('WHERE workspace = ? AND turn_id = ?', [workspace, turnId]);
    return turns.find((turn) => turn.calls.some((call) => call.callId === callId)) ?? null;
  }

  async byIdempotencyKey(
    workspaceId: string,
    userId: string,
    key: string,
    since: number,
  ): Promise<Turn | null> {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null ? null : this.ofKey(workspace, userId, key, since);
  }

  async argumentsOf(ref: TurnRef): Promise<Json[]> {
    const key = this.keyOf(ref);
    return key === null ? [] : rows.readArguments(this.database, key);
  }

  async argumentsOfCall(ref: TurnRef, position: number): Promise<Json> {
    const key = this.keyOf(ref);
    const found = key === null ? undefined : rows.readArgumentsAt(this.database, key, position);
    if (found === undefined) throw new Error(`Turn ${ref.turnId} has no arguments at ${position}.`);
    return found;
  }

  async resultsOf(ref: TurnRef): Promise<Map<string, Json>> {
    const key = this.keyOf(ref);
    return key === null ? new Map<string, Json>() : rows.readResults(this.database, key);
  }

  async editedArgumentsOf(ref: TurnRef, callId: string): Promise<Json> {
    const key = this.keyOf(ref);
    return key === null ? null : rows.readEditedArguments(this.database, key, callId);
  }

  async openOf(workspaceId: string, userId: string): Promise<Turn[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    return this.select("WHERE workspace = ? AND user_id = ? AND status = 'open' ORDER BY accepted_at, id", [
      workspace,
      userId,
    ]);
  }

  async dueBefore(time: number, limit: number): Promise<Turn[]> {
    return this.select('WHERE due_at <= ? ORDER BY due_at LIMIT ?', [time, limit]);
  }

  async openAfter(after: TurnRef | null, limit: number): Promise<Turn[]> {
    if (after === null) return this.select("WHERE status = 'open' ORDER BY accepted_at, id LIMIT ?", [limit]);
    const id = this.keyOf(after);
    return this.select(
      `WHERE status = 'open' AND (accepted_at, id) > (SELECT accepted_at, id FROM turns WHERE id = ?)
       ORDER BY accepted_at, id LIMIT ?`,
      [id, limit],
    );
  }

  async lastClientOf(workspaceId: string, sessionId: string): Promise<string | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    // The trail has every delivery under the session: asked once a session, it needs no index among the turns.
    const row = this.database.get<[string | null]>(
      `SELECT client_id FROM audit_events
       WHERE workspace = ? AND session_id = ? AND name GLOB 'Tool.*.Forwarded' ORDER BY seq DESC LIMIT 1`,
      [workspace, sessionId],
    );
    return row === null ? null : row[0];
  }

  private select(where: string, parameters: readonly SqlValue[]): Turn[] {
    return this.database
      .all<rows.TurnRow>(`${rows.SELECT_TURNS} ${where}`, parameters)
      .map((row) => rows.toTurn(this.workspaces.idOf(row[0]), row));
  }

  private read(workspace: number, ref: TurnRef): Turn | null {
    const where = 'WHERE workspace = ? AND turn_id = ? AND session_id = ?';
    return this.select(where, [workspace, ref.turnId, ref.sessionId])[0] ?? null;
  }

  private keyOf(ref: TurnRef): number | null {
    const workspace = this.workspaces.find(ref.workspaceId);
    return workspace === null ? null : rows.turnKey(this.database, workspace, ref);
  }

  private ofKey(workspace: number, userId: string, key: string, since: number): Turn | null {
    return this.select(`WHERE ${OF_KEY} AND accepted_at >= ?`, [workspace, userId, key, since])[0] ?? null;
  }

  private countOpen(workspace: number): number {
    const sql = "SELECT count(*) FROM turns WHERE workspace = ? AND status = 'open'";
    return this.database.get<[number]>(sql, [workspace])![0];
  }

  private releaseKey(workspace: number, userId: string, key: string): void {
    this.database.run(`UPDATE turns SET idempotency_key = NULL WHERE ${OF_KEY}`, [workspace, userId, key]);
  }
}
