import { yieldIfBusy } from '../../common/yield-if-busy.js';
import type { AuditDraft } from '../ports/audit.store.js';
import type { SqliteDatabase } from './database.js';
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
const INSERT_SEQS = `INSERT OR IGNORE INTO trail_seqs (workspace, seq, trail)
  SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`;
const INSERT_CALLS = `INSERT OR IGNORE INTO trail_calls (call_id, workspace, trail) SELECT ${NAME} FROM json_each(?)`;

/** A row of the trail with what is projected of it. */
interface AppendedRow {
  row: number;
  workspace: number;
  seq: number;
  count: number;
  names: ReadonlySet<string>;
  /** The calls of turns. */
  calls: ReadonlySet<string>;
}

type Entry = [name: string, workspace: number, row: number, isUuid: 0 | 1];

/**
 * Finds the rows of the trail of a session, a turn or a call: by tables that are projected from the trail in batches,
 * while the server is idle, and by a scan of the rows that are not projected yet, so that a query misses no event.
 */
export class TrailProjection {
  /** The last projected row. */
  private cursor: number;
  /** The first sequence number of each workspace that may not be projected. */
  private readonly firstSeqs = new Map<number, number>();
  /** Higher than the trail's last row for a while after a rollback. */
  private newestRow: number;
  /** Rows that are not projected yet, in their order; after a restart or a rollback without the first ones. */
  private recent: AppendedRow[] = [];
  private lag = 0;
  private commits = 0;
  private timer: NodeJS.Timeout | null = null;
  private isRunning = false;

  constructor(private readonly database: SqliteDatabase) {
    this.cursor = database.get<[number]>('SELECT trail FROM trail_projected')![0];
    this.newestRow = this.cursor;
    const tail = `SELECT max(id), workspace, min(seq), sum(last_seq - seq + 1) FROM trail WHERE id > ?
      GROUP BY workspace`;
    type Row = [row: number, workspace: number, seq: number, count: number];
    for (const row of database.all<Row>(tail, [this.cursor])) this.noteRow(...row);
    // Some were taken back, and their numbers will be given again.
    database.onRollback(() => (this.recent = []));
    database.grown$.subscribe(() => this.schedule());
    if (this.lag > 0) this.schedule();
  }

  /** Call it in the job that appends a row with these events. */
  appended(row: number, workspace: number, seq: number, events: readonly AuditDraft[]): void {
    this.noteRow(row, workspace, seq, events.length);
    this.recent.push(appendedRow(row, workspace, seq, events));
    if (this.recent.length > 2 * MAX_LAG) this.recent = [];
  }

  private noteRow(row: number, workspace: number, seq: number, count: number): void {
    if (!this.firstSeqs.has(workspace)) this.firstSeqs.set(workspace, seq);
    this.lag += count;
    this.newestRow = Math.max(this.newestRow, row);
  }

  /** The last row that the tables have, and the first sequence number of the workspace that they may lack. */
  reach(workspace: number): { row: number; firstSeq: number } {
    return { row: this.cursor, firstSeq: this.firstSeqs.get(workspace) ?? Infinity };
  }

  /** The last sequence number of the workspace; 0 without events. */
  lastSeq(workspace: number): number {
    const ofTail = 'SELECT max(last_seq) FROM trail WHERE id > ? AND workspace = ?';
    const ofTables = `SELECT t.last_seq FROM trail_seqs s CROSS JOIN trail t ON t.id = s.trail
      WHERE s.workspace = ? ORDER BY s.seq DESC LIMIT 1`;
    const [last] = this.database.get<[number | null]>(ofTail, [this.cursor, workspace])!;
    return last ?? this.database.get<[number]>(ofTables, [workspace])?.[0] ?? 0;
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
    const hasTail = firstSeq < Infinity;
    const ofTail = 'SELECT events FROM trail WHERE id > ? AND workspace = ?';
    const texts = hasTail ? this.database.all<[string]>(ofTail, [row, workspace]) : [];
    const ofTurn = `SELECT t.events FROM trail_names n CROSS JOIN trail t ON t.id = n.trail
      WHERE n.name = ? AND n.workspace = ?`;
    for (const turnId of turnIds)
      texts.push(...this.database.all<[string]>(ofTurn, [idColumn(turnId), workspace]));
    return new Set(texts.flatMap(([text]) => fromRow(text).map(({ eventId }) => eventId)));
  }

  /** Projects all rows that the trail has now, in steps that each are a job of their own. */
  async project(): Promise<void> {
    // What comes meanwhile waits for the next time, or for ever small steps would follow each commit.
    for (const end = this.newestRow; this.cursor < end;) {
      await yieldIfBusy();
      const rows = await this.database.write(() => this.step());
      if (rows.length === 0) return;
      this.projected(rows);
    }
  }

  /** Forgets rows that are projected and committed. */
  private projected(rows: readonly AppendedRow[]): void {
    this.cursor = rows.at(-1)!.row;
    this.recent = this.recent.filter(({ row }) => row > this.cursor);
    for (const { workspace, seq, count } of rows) {
      this.lag = Math.max(0, this.lag - count);
      this.firstSeqs.set(workspace, seq + count);
    }
    if (this.cursor < this.newestRow) return;
    this.firstSeqs.clear();
    this.lag = 0;
  }

  /** Projects the next rows; call it in a job. Returns them. */
  private step(): AppendedRow[] {
    const rows = this.nextRows();
    const end = rows.at(-1);
    if (end === undefined) return rows;
    const entriesOf = (kind: 'names' | 'calls'): string => {
      const entries = rows.flatMap(({ row, workspace, [kind]: names }) =>
        [...names].map((name): Entry => [name, workspace, row, isUuid(name) ? 1 : 0]),
      );
      // In the order of the keys, so that each page is visited once.
      return JSON.stringify(entries.sort(byName));
    };
    const seqs = rows.map(({ row, workspace, seq }) => [workspace, seq, row]);
    this.database.run(INSERT_SEQS, [JSON.stringify(seqs)]);
    this.database.run(INSERT_NAMES, [entriesOf('names')]);
    this.database.run(INSERT_CALLS, [entriesOf('calls')]);
    this.database.run('UPDATE trail_projected SET trail = ?', [end.row]);
    return rows;
  }

  /** From memory, or from the trail what was appended before a restart or a rollback. */
  private nextRows(): AppendedRow[] {
    const next = this.recent.findIndex(({ row }) => row > this.cursor);
    if (this.recent[next]?.row === this.cursor + 1) return this.recent.slice(next, next + STEP_ROWS);
    const sql = `SELECT id, workspace, seq, events FROM trail WHERE id > ? AND id < ? ORDER BY id LIMIT ?`;
    const end = this.recent[next]?.row ?? Number.MAX_SAFE_INTEGER;
    return this.database
      .all<[number, number, number, string]>(sql, [this.cursor, end, STEP_ROWS])
      .map(([row, workspace, seq, text]) => appendedRow(row, workspace, seq, fromRow(text)));
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

function appendedRow(
  row: number,
  workspace: number,
  seq: number,
  events: readonly AuditDraft[],
): AppendedRow {
  const [names, calls] = [new Set<string>(), new Set<string>()];
  for (const { eventId, sessionId, turnId, callId } of events) {
    if (sessionId !== null) names.add(sessionId);
    names.add(turnId ?? eventId);
    if (callId !== null) (turnId === null ? names : calls).add(callId);
  }
  return { row, workspace, seq, count: events.length, names, calls };
}

function byName([one]: Entry, [other]: Entry): number {
  return one < other ? -1 : Number(one > other);
}
