import type { AuditDraft } from '../ports/audit.store.js';
import type { SqliteDatabase } from './database.js';

/** A write whose answer was lost is sent again soon: its events are among the newest of the trail. */
const NEWEST = 1_000;

/** Whether a write was made before: the trail has its first event. Only asked where its guard does not hold. */
export function isRecorded(
  database: SqliteDatabase,
  workspace: number,
  [first]: readonly AuditDraft[],
): boolean {
  if (first === undefined) return false;
  const newest = 'SELECT event_id FROM audit_events WHERE workspace = ? ORDER BY seq DESC LIMIT ?';
  const found = database.get(`SELECT 1 FROM (${newest}) WHERE event_id = ?`, [
    workspace,
    NEWEST,
    first.eventId,
  ]);
  return found !== null;
}
