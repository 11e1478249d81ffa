import { Injectable } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { valueOf } from '../../common/json-text.js';
import type { Lease, Membership, SessionUse, Turn, TurnRef } from '../ports/turn.js';
import { changedCalls } from '../ports/turn-calls.js';
import type { AuditDraft } from '../ports/audit.store.js';
import {
  type CallResult,
  type OpenCount,
  type OpenTurnName,
  type ResultTexts,
  type StoredJson,
  type StoredResult,
  TurnStore,
  type TurnVersion,
} from '../ports/turns.store.js';
import { appendEvents, unrecorded } from './audit-rows.js';
import { keysOfCall, readArguments, readArgumentsAt, updateCalls } from './call-rows.js';
import { SqliteDatabase } from './database.js';
import { readJson } from './large-texts.js';
import { requireMember } from './members.js';
import {
  insertResults,
  readEditedArguments,
  readResultOf,
  readResults,
  type ResultColumns,
} from './result-rows.js';
import * as rows from './turn-rows.js';
import { markAllReferenced, TurnStaging } from './turn-staging.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqliteTurnStore extends TurnStore {
  private readonly staging: TurnStaging;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
    this.staging = new TurnStaging(database);
  }

  async insert(
    turn: Turn,
    callArguments: readonly Json[],
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<Turn> {
    const workspace = this.workspaces.require(turn.workspaceId);
    return this.staging.with(callArguments, results, (columns, resultRows) =>
      this.database.write(() => {
        const known = this.read(workspace, turn);
        // callIds are new for each turn: equal ones mean that this insert succeeded before, and its response was lost.
        if (known !== null) {
          const isSameTurn = known.calls[0]!.callId === turn.calls[0]!.callId;
          return { value: isSameTurn ? turn : known, isKept: false };
        }
        requireMember(this.database, workspace, turn.userId);
        const id = rows.insertTurn(this.database, workspace, turn, columns);
        insertResults(this.database, id, turn, resultRows);
        markAllReferenced(this.database, columns, resultRows);
        appendEvents(this.database, workspace, events);
        return { value: turn, isKept: true };
      }),
    );
  }

  async save(
    before: Turn,
    turn: Turn,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
    by?: Membership,
  ): Promise<boolean> {
    const workspace = this.workspaces.require(turn.workspaceId);
    return this.staging.with([], results, (_none, resultRows) =>
      this.database.write(() => {
        const current = this.database.get<[number, string, number | null, string | null]>(
          `SELECT id, status, due_at, last_client_id FROM turns
           WHERE workspace = ? AND turn_id = ? AND session_id = ? AND version = ?`,
          [workspace, turn.turnId, turn.sessionId, before.version],
        );
        if (current === null) return { value: this.isStored(workspace, turn), isKept: false };
        if (by !== undefined) requireMember(this.database, workspace, by.userId);
        const [id, status, dueAt, lastClientId] = current;
        rows.updateTurn(this.database, id, turn, { status, dueAt, lastClientId });
        updateCalls(this.database, id, turn, changedCalls(before, turn));
        insertResults(this.database, id, turn, resultRows);
        markAllReferenced(this.database, [], resultRows);
        appendEvents(this.database, workspace, events);
        return { value: true, isKept: true };
      }),
    );
  }

  async record(workspaceId: string, events: readonly AuditDraft[]): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => {
      appendEvents(this.database, workspace, unrecorded(this.database, workspace, events));
    });
  }

  async find(ref: TurnRef): Promise<Turn | null> {
    const workspace = this.workspaces.find(ref.workspaceId);
    return workspace === null ? null : this.read(workspace, ref);
  }

  async versionOf(ref: TurnRef): Promise<number | null> {
    const workspace = this.workspaces.find(ref.workspaceId);
    if (workspace === null) return null;
    const sql = 'SELECT version FROM turns WHERE workspace = ? AND turn_id = ? AND session_id = ?';
    return this.database.get<[number]>(sql, [workspace, ref.turnId, ref.sessionId])?.[0] ?? null;
  }

  async ofCall(workspaceId: string, turnId: string, callId: string): Promise<Turn | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    for (const key of keysOfCall(this.database, callId)) {
      const [turn] = this.select('WHERE id = ? AND workspace = ? AND turn_id = ?', [key, workspace, turnId]);
      if (turn) return turn;
    }
    return null;
  }

  async argumentsOf(ref: TurnRef): Promise<StoredJson[]> {
    const key = this.keyOf(ref);
    const columns = key === null ? [] : readArguments(this.database, key);
    const values: StoredJson[] = [];
    for (const column of columns) {
      values.push(await readJson(this.database, column));
      await yieldIfBusy();
    }
    return values;
  }

  async argumentsOfCall(ref: TurnRef, position: number): Promise<Json> {
    const key = this.keyOf(ref);
    const column = key === null ? null : readArgumentsAt(this.database, key, position);
    if (column === null) throw new Error(`Turn ${ref.turnId} has no arguments at ${position}.`);
    return valueOf(await readJson(this.database, column));
  }

  async resultsOf(ref: TurnRef): Promise<Map<string, ResultTexts>> {
    const key = this.keyOf(ref);
    const results = new Map<string, ResultTexts>();
    if (key === null) return results;
    for (const [callId, read] of readResults(this.database, key)) {
      results.set(callId, await this.resultFrom(read()));
      await yieldIfBusy();
    }
    return results;
  }

  async resultOf(ref: TurnRef, callId: string): Promise<StoredResult | null> {
    const key = this.keyOf(ref);
    const columns = key === null ? null : readResultOf(this.database, key, callId);
    if (columns === null) return null;
    const { result, details } = await this.resultFrom(columns);
    return { result: await valueOf(result), details: await valueOf(details) };
  }

  async editedArgumentsOf(ref: TurnRef, callId: string): Promise<Json> {
    const key = this.keyOf(ref);
    const column = key === null ? null : readEditedArguments(this.database, key, callId);
    return column === null ? null : valueOf(await readJson(this.database, column));
  }

  async dueBefore(time: number, limit: number): Promise<TurnRef[]> {
    return this.refs('WHERE due_at <= ? ORDER BY due_at LIMIT ?', [time, limit]);
  }

  async leasedBy(node: Lease['owner']): Promise<TurnRef[]> {
    return this.refs("WHERE status = 'open' AND json_extract(state, '$.lease.owner') = ?", [node]);
  }

  async openVersionsOf(users: readonly Membership[]): Promise<TurnVersion[]> {
    return users.flatMap(({ workspaceId, userId }) => {
      const workspace = this.workspaces.find(workspaceId);
      if (workspace === null) return [];
      const sql = `SELECT session_id, turn_id, version FROM turns
        WHERE workspace = ? AND user_id = ? AND status = 'open' ORDER BY accepted_at, id`;
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

  async openIn(
    workspaceId: string,
    userId: string | null,
    after: TurnRef | null,
    limit: number,
  ): Promise<OpenTurnName[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const where = [
      "workspace = ? AND status = 'open'",
      ...(userId === null ? [] : ['user_id = ?']),
      ...(after === null ? [] : ['(accepted_at, id) > (SELECT accepted_at, id FROM turns WHERE id = ?)']),
    ];
    const rows = this.database.all<[string, string, string, number, number, 1 | null]>(
      `SELECT session_id, turn_id, user_id, version, accepted_at, json_extract(state, '$.direct') FROM turns
       WHERE ${where.join(' AND ')} ORDER BY accepted_at, id LIMIT ?`,
      [
        ...[workspace, ...(userId === null ? [] : [userId])],
        ...(after === null ? [] : [this.keyOf(after)]),
        limit,
      ],
    );
    return rows.map(([sessionId, turnId, ofUser, version, acceptedAt, direct]) => ({
      ...{ workspaceId, sessionId, turnId, userId: ofUser, version, acceptedAt },
      ...(direct === 1 && { direct: true as const }),
    }));
  }

  async openOfWorkspace(workspaceId: string): Promise<OpenCount> {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null
      ? { turns: 0, calls: 0 }
      : this.count('turns t WHERE t.workspace = ?', workspace);
  }

  async openOfUser(userId: string): Promise<OpenCount> {
    const memberTurns = `members m CROSS JOIN turns t ON t.workspace = m.workspace AND t.user_id = m.user_id
      WHERE m.user_id = ?`;
    return this.count(memberTurns, userId);
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

  private async resultFrom({ result, details }: ResultColumns): Promise<ResultTexts> {
    return {
      result: await readJson(this.database, result),
      details: details === null ? null : await readJson(this.database, details),
    };
  }

  private select(where: string, parameters: readonly SqlValue[]): Turn[] {
    return this.database
      .all<rows.TurnRow>(`${rows.SELECT_TURNS} ${where}`, parameters)
      .map((row) => rows.toTurn(this.database, this.workspaces.idOf(row[1]), row));
  }

  private refs(where: string, parameters: readonly SqlValue[]): TurnRef[] {
    const sql = `SELECT workspace, session_id, turn_id FROM turns ${where}`;
    return this.database
      .all<[number, string, string]>(sql, parameters)
      .map(([workspace, sessionId, turnId]) => ({
        workspaceId: this.workspaces.idOf(workspace),
        sessionId,
        turnId,
      }));
  }

  private count(turns: string, key: SqlValue): OpenCount {
    const sql = `SELECT count(*), coalesce(sum(t.calls), 0) FROM ${turns} AND t.status = 'open'`;
    const [count, calls] = this.database.get<[number, number]>(sql, [key])!;
    return { turns: count, calls };
  }

  private read(workspace: number, ref: TurnRef): Turn | null {
    const where = 'WHERE workspace = ? AND turn_id = ? AND session_id = ?';
    return this.select(where, [workspace, ref.turnId, ref.sessionId])[0] ?? null;
  }

  private keyOf(ref: TurnRef): number | null {
    const workspace = this.workspaces.find(ref.workspaceId);
    return workspace === null ? null : rows.turnRowKey(this.database, workspace, ref);
  }

  /** Whether a save whose response was lost has already stored this state of the turn. */
  private isStored(workspace: number, turn: Turn): boolean {
    const current = this.read(workspace, turn);
    if (current?.version !== turn.version || rows.stateOf(current) !== rows.stateOf(turn)) return false;
    return current.calls.every((call, at) => JSON.stringify(call) === JSON.stringify(turn.calls[at]));
  }
}
