import { Injectable } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import type { Membership, SessionUse, Turn, TurnRef } from '../ports/turn.js';
import type { AuditDraft } from '../ports/audit.store.js';
import { type CallResult, TurnStore, type TurnVersion } from '../ports/turns.store.js';
import { appendEvents, isRecorded } from './audit-rows.js';
import { SqliteDatabase } from './database.js';
import * as rows from './turn-rows.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqliteTurnStore extends TurnStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async insert(turn: Turn, callArguments: readonly Json[], events: readonly AuditDraft[]): Promise<Turn> {
    const workspace = this.workspaces.require(turn.workspaceId);
    return this.database.write(() => {
      const known = this.read(workspace, turn);
      // callIds are ours and new: where they are the same it is this very turn, whose first answer was lost.
      if (known !== null) return known.calls[0]!.callId === turn.calls[0]!.callId ? turn : known;
      const id = rows.insertTurn(this.database, workspace, turn);
      rows.insertArguments(this.database, id, callArguments);
      appendEvents(this.database, workspace, events);
      return turn;
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
      const current = this.database.get<[number, string, number | null, string | null]>(
        `SELECT id, status, due_at, last_client_id FROM turns
         WHERE workspace = ? AND turn_id = ? AND session_id = ? AND version = ?`,
        [workspace, turn.turnId, turn.sessionId, expectedVersion],
      );
      if (current === null) return this.isStored(workspace, turn);
      const [id, status, dueAt, lastClientId] = current;
      rows.updateTurn(this.database, id, turn, { status, dueAt, lastClientId });
      rows.insertResults(this.database, id, turn, results);
      appendEvents(this.database, workspace, events);
      return true;
    });
  }

  async record(workspaceId: string, events: readonly AuditDraft[]): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => {
      const fresh = events.filter((event) => !isRecorded(this.database, workspace, event));
      appendEvents(this.database, workspace, fresh);
    });
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

  async openVersionsOf(users: readonly Membership[]): Promise<TurnVersion[]> {
    return users.flatMap(({ workspaceId, userId }) => {
      const workspace = this.workspaces.find(workspaceId);
      if (workspace === null) return [];
      const sql =
        "SELECT session_id, turn_id, version FROM turns WHERE workspace = ? AND user_id = ? AND status = 'open'";
      const found = this.database.all<[string, string, number]>(sql, [workspace, userId]);
      return found.map(([sessionId, turnId, version]) => ({
        workspaceId,
        userId,
        sessionId,
        turnId,
        version,
      }));
    });
  }

  async countOpen(workspaceId: string): Promise<number> {
    const workspace = this.workspaces.find(workspaceId);
    const sql = "SELECT count(*) FROM turns WHERE workspace = ? AND status = 'open'";
    return workspace === null ? 0 : this.database.get<[number]>(sql, [workspace])![0];
  }

  async lastUseOf(workspaceId: string, sessionId: string): Promise<SessionUse | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const row = this.database.get<[string, string | null]>(
      `SELECT last_client_id, json_extract(state, '$.folder') FROM turns
       WHERE workspace = ? AND session_id = ? AND last_client_id IS NOT NULL ORDER BY accepted_at DESC, id DESC LIMIT 1`,
      [workspace, sessionId],
    );
    if (row === null) return null;
    const [lastClientId, folder] = row;
    return { lastClientId, folder: folder === null ? null : (JSON.parse(folder) as string[]) };
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
    return workspace === null ? null : rows.turnRowKey(this.database, workspace, ref);
  }

  /** Whether this state of the turn is stored already, by a save whose answer was lost. */
  private isStored(workspace: number, turn: Turn): boolean {
    const current = this.read(workspace, turn);
    return current?.version === turn.version && rows.stateOf(current) === rows.stateOf(turn);
  }
}
