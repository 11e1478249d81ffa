import type { AuditDraft } from '../ports/audit.store.js';
import type { SqliteDatabase } from './database.js';
import { toRows } from './trail-rows.js';
import { TrailProjection } from './trail-projection.js';

const INSERT = `INSERT INTO trail (workspace, seq, last_seq, first_at, last_at, more_paths, events)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Appends to the trail of each workspace. */
export class TrailLog {
  /** The last sequence number of each workspace, by its key. This process alone writes them. */
  private readonly lastSeqs = new Map<number, number>();
  /** What they were before the transaction that began after so many commits. */
  private readonly before = new Map<number, number>();
  private commits = 0;

  private readonly projection: TrailProjection;

  constructor(private readonly database: SqliteDatabase) {
    this.projection = database.part(TrailProjection);
    database.onRollback(() => {
      this.beginTransaction();
      for (const [workspace, seq] of this.before) this.lastSeqs.set(workspace, seq);
    });
  }

  /** Appends events with the workspace's next sequence numbers; call it in the job of the recorded change. */
  append(workspace: number, events: readonly AuditDraft[]): void {
    if (events.length === 0) return;
    this.insert(workspace, this.lastSeq(workspace) + 1, events);
    this.database.noteGrowth(workspace);
  }

  /** Inserts events from this sequence number on; call it in a job. */
  insert(workspace: number, firstSeq: number, events: readonly AuditDraft[]): void {
    this.beginTransaction();
    if (!this.before.has(workspace)) this.before.set(workspace, this.lastSeq(workspace));
    let last = firstSeq - 1;
    for (const { events: ofRow, firstAt, lastAt, hasMorePaths, text } of toRows(events)) {
      const values = [workspace, last + 1, last + ofRow.length, firstAt, lastAt, Number(hasMorePaths), text];
      const { lastInsertRowid } = this.database.run(INSERT, values);
      this.projection.appended(Number(lastInsertRowid), workspace, last + 1, ofRow);
      last += ofRow.length;
    }
    this.lastSeqs.set(workspace, last);
  }

  /** After a commit there is nothing to return to. */
  private beginTransaction(): void {
    if (this.commits !== this.database.commits) this.before.clear();
    this.commits = this.database.commits;
  }

  /** The newest sequence number of the workspace; 0 without events. */
  lastSeq(workspace: number): number {
    const known = this.lastSeqs.get(workspace);
    if (known !== undefined) return known;
    const last = this.projection.lastSeq(workspace);
    this.lastSeqs.set(workspace, last);
    return last;
  }

  /** Those of the events that are not in the trail; call it in the job that appends them. */
  unrecorded(workspace: number, events: readonly AuditDraft[]): AuditDraft[] {
    const known = this.projection.eventIds(workspace, new Set(events.flatMap(({ turnId }) => turnId ?? [])));
    return events.filter(
      ({ eventId, turnId }) =>
        !known.has(eventId) && (turnId !== null || !this.projection.hasName(workspace, eventId)),
    );
  }
}
