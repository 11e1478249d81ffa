import { Injectable } from '@nestjs/common';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import type { AuditDraft } from '../ports/audit.store.js';
import { SqliteDatabase } from './database.js';
import { idColumn, isUuid } from './short-ids.js';
import { fromRow } from './trail-rows.js';

/** Rows of the trail that one step projects. */
const STEP_ROWS = 256;
/** The projection lags at most this many events; beyond it, it works between commits. */
const MAX_LAG = 10_000;
/** Without a commit for this long, ms, the server counts as idle. */
const IDLE_MS = 250;

/** The stored form of a name: SQLite turns a UUID into its bytes. */
const NAME =
  "CASE WHEN value ->> 3 THEN unhex(value ->> 0, '-') ELSE value ->> 0 END, value ->> 1, value ->> 2";
const INSERT_NAMES = `INSERT OR IGNORE INTO trail_names (name, workspace, trail) SELECT ${NAME} FROM json_each(?)`;
const INSERT_CALLS = `INSERT OR IGNORE INTO trail_calls (call_id, workspace, trail) SELECT ${NAME} FROM json_each(?)`;

type Entry = [name: string, workspace: number, row: number, isUuid: 0 | 1];

/**
 * Finds the rows of the trail of a session, a turn or a call: by tables that are projected from the trail in batches,
 * while the server is idle, and by a scan of the rows that are not projected yet, so that a query misses no event.
 */
@Injectable()
export class TrailProjection {
  /** The last projected row. */
  private cursor: number;
  /** The first sequence number of each workspace that may not be projected. */
  private readonly firstSeqs = new Map<number, number>();
  private newestRow: number;
  private lag = 0;
  private commits = 0;
  private timer: NodeJS.Timeout | null = null;
  private isRunning = false;

  constructor(private readonly database: SqliteDatabase) {
    this.cursor = database.get<[number]>('SELECT trail FROM trail_projected')![0];
    this.newestRow = this.cursor;
    const tail = `SELECT workspace, min(seq), sum(last_seq - seq + 1), max(id) FROM trail WHERE id > ?
      GROUP BY workspace`;
    type Row = [workspace: number, seq: number, count: number, row: number];
    for (const row of database.all<Row>(tail, [this.cursor])) this.appended(...row);
    database.grown$.subscribe(() => this.schedule());
    if (this.lag > 0) this.schedule();
  }

  /** Call it in the job that appends a row. */
  appended(workspace: number, seq: number, count: number, row: number): void {
    if (!this.firstSeqs.has(workspace)) this.firstSeqs.set(workspace, seq);
    this.lag += count;
    this.newestRow = Math.max(this.newestRow, row);
  }

  /** The last row that the tables have, and the first sequence number of the workspace that they may lack. */
  reach(workspace: number): { row: number; firstSeq: number } {
    return { row: this.cursor, firstSeq: this.firstSeqs.get(workspace) ?? Number.MAX_SAFE_INTEGER };
  }

  /** The first row with an event of the call; null if there is none, or if the event has no turn. */
  firstRowOfCall(workspace: number, callId: string): number | null {
    const sql = 'SELECT trail FROM trail_calls WHERE call_id = ? AND workspace = ?';
    return this.database.get<[number]>(sql, [idColumn(callId), workspace])?.[0] ?? null;
  }

  /** Whether the tables have a row of this name. */
  hasName(workspace: number, name: string): boolean {
    const sql = 'SELECT 1 FROM trail_names WHERE name = ? AND workspace = ? LIMIT 1';
    return this.database.get(sql, [idColumn(name), workspace]) !== null;
  }

  /** The ids of the events of these turns, and of all events that are not projected yet. */
  eventIds(workspace: number, turnIds: ReadonlySet<string>): Set<string> {
    const { row, firstSeq } = this.reach(workspace);
    const ofTail = 'SELECT events FROM trail WHERE workspace = ? AND seq >= ? AND id > ?';
    const texts = this.database.all<[string]>(ofTail, [workspace, firstSeq, row]);
    const ofTurn = `SELECT t.events FROM trail_names n CROSS JOIN trail t ON t.id = n.trail
      WHERE n.name = ? AND n.workspace = ?`;
    for (const turnId of turnIds)
      texts.push(...this.database.all<[string]>(ofTurn, [idColumn(turnId), workspace]));
    return new Set(texts.flatMap(([text]) => fromRow(text).map(({ eventId }) => eventId)));
  }

  /** Projects all rows of the trail, in steps that each are a job of their own. */
  async project(): Promise<void> {
    for (let more = true; more;) {
      await yieldIfBusy();
      const { last, count } = await this.database.write(() => this.step());
      this.cursor = last;
      this.lag = Math.max(0, this.lag - count);
      more = last < this.newestRow;
      if (!more) this.firstSeqs.clear();
    }
  }

  /** Projects the next rows; call it in a job. Returns the last of them, and how many events they have. */
  private step(): { last: number; count: number } {
    const sql =
      'SELECT id, workspace, last_seq - seq + 1, events FROM trail WHERE id > ? ORDER BY id LIMIT ?';
    const rows = this.database.all<[number, number, number, string]>(sql, [this.cursor, STEP_ROWS]);
    if (rows.length === 0) return { last: this.newestRow, count: 0 };
    const names: Entry[] = [];
    const calls: Entry[] = [];
    let count = 0;
    for (const [row, workspace, events, text] of rows) {
      const found = namesIn(fromRow(text));
      for (const name of found.names) names.push(entry(name, workspace, row));
      for (const callId of found.calls) calls.push(entry(callId, workspace, row));
      count += events;
    }
    // In the order of the keys, so that each page is visited once.
    this.database.run(INSERT_NAMES, [JSON.stringify(names.sort(byName))]);
    this.database.run(INSERT_CALLS, [JSON.stringify(calls.sort(byName))]);
    const last = rows.at(-1)![0];
    this.database.run('UPDATE trail_projected SET trail = ?', [last]);
    return { last, count };
  }

  private schedule(): void {
    if (this.lag >= MAX_LAG) void this.run();
    else this.timer ??= setTimeout(() => this.look(), IDLE_MS).unref();
  }

  /** Waits on while there are commits. */
  private look(): void {
    this.timer = null;
    const { commits } = this.database;
    if (commits === this.commits) return void this.run();
    this.commits = commits;
    this.schedule();
  }

  private async run(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    // A full disk, or the database is closed: the next commit schedules it again.
    await this.project().catch(() => undefined);
    this.isRunning = false;
  }
}

/** The names of a row, and the calls of turns in it. */
function namesIn(events: readonly AuditDraft[]): { names: Set<string>; calls: Set<string> } {
  const [names, calls] = [new Set<string>(), new Set<string>()];
  for (const { eventId, sessionId, turnId, callId } of events) {
    if (sessionId !== null) names.add(sessionId);
    if (turnId !== null) names.add(turnId);
    if (turnId === null) names.add(eventId);
    if (callId !== null) (turnId === null ? names : calls).add(callId);
  }
  return { names, calls };
}

function entry(name: string, workspace: number, row: number): Entry {
  return [name, workspace, row, isUuid(name) ? 1 : 0];
}

function byName([one]: Entry, [other]: Entry): number {
  return one < other ? -1 : Number(one > other);
}
