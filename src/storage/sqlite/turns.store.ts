import { Injectable } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { valueOf } from '../../common/json-text.js';
import type { Lease, Membership, SessionUse, Turn, TurnRef } from '../ports/turn.js';
import { positionOf } from '../ports/turn-calls.js';
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
import { CALLS_MAX, readArguments, readArgumentsAt } from './call-rows.js';
import { SqliteDatabase } from './database.js';
import { readJson } from './large-texts.js';
import { requireMember } from './members.js';
import { OpenTurnKeys } from './open-turn-keys.js';
import { readEditedArguments, readResults, type ResultColumns } from './result-rows.js';
import { RecentValues } from './recent-values.js';
import { SessionUses } from './session-uses.js';
import { isSmallResult, isSmallTurn, type ResultRow, resultsIn, valuesIn } from './small-turns.js';
import { TrailLog } from './trail-log.js';
import * as rows from './turn-rows.js';
import { markAllReferenced, TurnStaging } from './turn-staging.js';
import { callOfValues, callText, statePath, stateText } from './turn-texts.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqliteTurnStore extends TurnStore {
  private readonly staging: TurnStaging;
  private readonly trail: TrailLog;
  private readonly open: OpenTurnKeys;
  private readonly uses: SessionUses;
  private readonly recent: RecentValues;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
    this.staging = new TurnStaging(database);
    this.trail = database.part(TrailLog);
    this.open = database.part(OpenTurnKeys);
    this.uses = database.part(SessionUses);
    this.recent = database.part(RecentValues);
  }

  async insert(
    turn: Turn,
    callArguments: readonly Json[],
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<Turn> {
    const workspace = this.workspaces.require(turn.workspaceId);
    return this.staging.with(callArguments, results, async (columns, resultRows) => {
      const { value, committed } = await this.database.write(() => {
        requireMember(this.database, workspace, turn.userId);
        const key = rows.insertTurn(this.database, workspace, turn, columns, resultRows);
        if (key !== null)
          return { value: turn, committed: this.stored(workspace, key, turn, columns, resultRows, events) };
        const known = this.read(workspace, turn)!;
        // callIds are new for each turn: equal ones mean that this insert succeeded before, and its response was lost.
        const isSameTurn = known.calls[0]!.callId === turn.calls[0]!.callId;
        return { value: isSameTurn ? turn : known, committed: null };
      });
      if (committed !== null) {
        committed();
        if (isSmallTurn(columns)) this.recent.inserted(turn, callArguments);
        this.recent.ended(turn, results, resultRows.every(isSmallResult));
      }
      return { value, isKept: committed !== null };
    });
  }

  async save(
    before: Turn,
    turn: Turn,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
    by?: Membership,
  ): Promise<boolean> {
    const workspace = this.workspaces.require(turn.workspaceId);
    return this.staging.with([], results, async (_none, resultRows) => {
      const { value, committed } = await this.database.write(() => {
        const current = rows.currentRow(this.database, workspace, turn, before.version);
        if (current === null) return { value: this.isStored(workspace, turn), committed: null };
        if (by !== undefined) requireMember(this.database, workspace, by.userId);
        rows.updateTurn(this.database, current, before, turn, resultRows);
        return { value: true, committed: this.stored(workspace, current.key, turn, [], resultRows, events) };
      });
      if (committed !== null) {
        committed();
        this.recent.ended(turn, results, resultRows.every(isSmallResult));
      }
      return { value, isKept: committed !== null };
    });
  }

  /** Stores what belongs to a turn's write beside its rows. Call what it returns after the commit. */
  private stored(
    workspace: number,
    key: number,
    turn: Turn,
    columns: readonly string[],
    results: readonly ResultRow[],
    events: readonly AuditDraft[],
  ): () => void {
    markAllReferenced(this.database, columns, results);
    const useCommitted = this.uses.store(workspace, turn);
    this.trail.append(workspace, events);
    return () => {
      useCommitted();
      const { userId, calls } = turn;
      if (turn.status === 'open') this.open.opened(key, { workspace, userId, calls: calls.length });
      else this.open.ended(key);
    };
  }

  async record(workspaceId: string, events: readonly AuditDraft[]): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => this.trail.append(workspace, this.trail.unrecorded(workspace, events)));
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
    // The states of few calls are in the turn's row.
    const where = `WHERE turn_id = ? AND workspace = ? AND (instr(call_states, ?) > 0 OR call_states IS NULL AND
      EXISTS (SELECT 1 FROM turn_calls c WHERE c.call_id = ? AND c.id / ${CALLS_MAX} = turns.id))`;
    const found = this.select(where, [turnId, workspace, JSON.stringify(callId), callId]);
    return found.find((turn) => positionOf(turn.calls, callId) !== -1) ?? null;
  }

  async argumentsOf(ref: TurnRef): Promise<StoredJson[]> {
    const recent = this.recent.find(ref);
    if (recent !== undefined) return [...recent.arguments];
    const row = this.valueRow('arguments', ref);
    if (row === null) return [];
    if (row.values !== null) return valuesIn(row.values);
    const values: StoredJson[] = [];
    for (const column of readArguments(this.database, row.key)) {
      values.push(await readJson(this.database, column));
      await yieldIfBusy();
    }
    return values;
  }

  async argumentsOfCall(ref: TurnRef, position: number): Promise<Json> {
    const recent = this.recent.find(ref)?.arguments[position];
    if (recent !== undefined) return recent;
    const row = this.valueRow('arguments', ref);
    const inRow = row?.values == null ? undefined : valuesIn(row.values)[position];
    if (inRow !== undefined) return inRow;
    const column = row === null ? null : readArgumentsAt(this.database, row.key, position);
    if (column === null) throw new Error(`Turn ${ref.turnId} has no arguments at ${position}.`);
    return valueOf(await readJson(this.database, column));
  }

  async resultsOf(ref: TurnRef): Promise<Map<string, ResultTexts>> {
    const recent = this.recent.find(ref);
    const results = new Map<string, ResultTexts>(recent?.results);
    const row = recent === undefined ? this.valueRow('results', ref) : null;
    if (row === null) return results;
    if (row.values !== null) {
      const calls = valuesIn(row.callStates!).map(callOfValues);
      for (const [position, result] of resultsIn(row.values)) results.set(calls[position]!.callId, result);
    }
    if (row.callStates !== null && !row.hasOtherResults) return results;
    for (const [callId, read] of readResults(this.database, row.key)) {
      results.set(callId, await this.resultFrom(read()));
      await yieldIfBusy();
    }
    return results;
  }

  async resultOf(ref: TurnRef, callId: string): Promise<StoredResult | null> {
    const found = (await this.resultsOf(ref)).get(callId);
    return found === undefined
      ? null
      : { result: await valueOf(found.result), details: await valueOf(found.details) };
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
    return this.refs(`WHERE status = 'open' AND json_extract(state, '${statePath('lease')}.owner') = ?`, [
      node,
    ]);
  }

  async openVersionsOf(users: readonly Membership[]): Promise<TurnVersion[]> {
    return users.flatMap(({ workspaceId, userId }) => this.openOf(workspaceId, userId).map(versionOf));
  }

  async openIn(
    workspaceId: string,
    userId: string | null,
    after: TurnRef | null,
    limit: number,
  ): Promise<OpenTurnName[]> {
    const afterKey = after === null ? null : this.keyOf(after);
    return this.openOf(workspaceId, userId, afterKey, limit);
  }

  /** The open turns of a workspace, or of one user in it, oldest first. */
  private openOf(
    workspaceId: string,
    userId: string | null,
    afterKey: number | null = null,
    limit = -1,
  ): OpenTurnName[] {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const keys = userId === null ? this.open.ofWorkspace(workspace) : this.open.ofMember(workspace, userId);
    return rows
      .openNames(this.database, keys, afterKey, limit)
      .map((name): OpenTurnName => ({ workspaceId, ...name }));
  }

  async openOfWorkspace(workspaceId: string): Promise<OpenCount> {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null ? { turns: 0, calls: 0 } : this.open.countOfWorkspace(workspace);
  }

  async openOfUser(userId: string): Promise<OpenCount> {
    return this.open.countOfUser(userId);
  }

  async lastUseOf(workspaceId: string, sessionId: string): Promise<SessionUse | null> {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null ? null : this.uses.find(workspace, sessionId);
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

  private valueRow(column: rows.ValueColumn, ref: TurnRef): rows.ValueRow | null {
    const workspace = this.workspaces.find(ref.workspaceId);
    return workspace === null ? null : rows.valueRow(this.database, workspace, column, ref);
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
    if (current?.version !== turn.version || stateText(current) !== stateText(turn)) return false;
    return current.calls.every((call, at) => callText(call) === callText(turn.calls[at]!));
  }
}

function versionOf({ workspaceId, userId, sessionId, turnId, version }: OpenTurnName): TurnVersion {
  return { workspaceId, userId, sessionId, turnId, version };
}
