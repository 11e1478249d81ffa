import type { SessionUse, Turn } from '../ports/turn.js';
import type { SqliteDatabase } from './database.js';

/** Sessions whose last use is kept in memory. */
const MAX_KNOWN = 10_000;

const UPSERT = `INSERT INTO session_uses (session_id, workspace, accepted_at, last_client_id, folder)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT (session_id, workspace) DO UPDATE SET accepted_at = excluded.accepted_at,
    last_client_id = excluded.last_client_id, folder = excluded.folder WHERE excluded.accepted_at >= accepted_at`;

/** What each session used last: the use of its newest turn that used a client. */
export class SessionUses {
  /** The committed use of a session, the least recently written first. */
  private readonly known = new Map<string, { acceptedAt: number; text: string }>();

  constructor(private readonly database: SqliteDatabase) {}

  /** Stores the use of a turn, if it is news; call it in a job. After its commit call what it returns. */
  store(workspace: number, turn: Turn): () => void {
    const { sessionId, acceptedAt, lastClientId, folder } = turn;
    if (lastClientId === null) return nothing;
    const name = `${workspace}/${sessionId}`;
    const known = this.known.get(name);
    const text = JSON.stringify([lastClientId, folder]);
    if (known !== undefined && known.acceptedAt > acceptedAt) return nothing;
    // The same use of a newer turn is not worth a write, but no older turn may replace it.
    if (known?.text === text) return () => this.remember(name, acceptedAt, text);
    const values = [sessionId, workspace, acceptedAt, lastClientId, JSON.stringify(folder)];
    const { changes } = this.database.run(UPSERT, values);
    return changes === 0 ? nothing : () => this.remember(name, acceptedAt, text);
  }

  /** Null if the session has used none. */
  find(workspace: number, sessionId: string): SessionUse | null {
    const sql = 'SELECT last_client_id, folder FROM session_uses WHERE session_id = ? AND workspace = ?';
    const row = this.database.get<[string, string]>(sql, [sessionId, workspace]);
    return row && { lastClientId: row[0], folder: JSON.parse(row[1]) as string[] | null };
  }

  private remember(name: string, acceptedAt: number, text: string): void {
    this.known.delete(name);
    this.known.set(name, { acceptedAt, text });
    if (this.known.size > MAX_KNOWN) this.known.delete(this.known.keys().next().value!);
  }
}

function nothing(): void {}
