import { Injectable } from '@nestjs/common';
import type { ActiveFile } from '@patchbay/protocol';
import { type SessionRecord, SessionStore } from '../ports/sessions.store.js';
import { SqliteDatabase } from './database.js';
import { count } from './usage-rows.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

type SessionRow = [string, string, string, string | null, string | null, number];

const SELECT = 'SELECT session_id, conversation_id, user_id, client_id, tools, created_at FROM sessions';

@Injectable()
export class SqliteSessionStore extends SessionStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async insert(session: SessionRecord): Promise<void> {
    const workspace = this.workspaces.require(session.workspaceId);
    const { id, conversationId, userId, clientId, createdAt } = session;
    const tools = session.tools === null ? null : JSON.stringify(session.tools);
    await this.database.write(() => {
      const { changes } = this.database.run(
        `INSERT INTO sessions (workspace, session_id, conversation_id, user_id, client_id, tools, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [workspace, id, conversationId, userId, clientId, tools, createdAt],
      );
      const bytes = Buffer.byteLength(tools ?? '');
      if (changes === 1) count(this.database, session.workspaceId, userId, { sessions: 1, bytes });
    });
  }

  async byId(workspaceId: string, id: string): Promise<SessionRecord | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const row = this.database.get<SessionRow>(`${SELECT} WHERE workspace = ? AND session_id = ?`, [
      workspace,
      id,
    ]);
    return row === null ? null : toSession(workspaceId, row);
  }

  async ofUser(
    workspaceId: string,
    userId: string,
    beforeId: string | null,
    limit: number,
  ): Promise<SessionRecord[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    let where = 'workspace = ? AND user_id = ?';
    const parameters: SqlValue[] = [workspace, userId];
    if (beforeId !== null) {
      where += ` AND (created_at, session_id) <
        (SELECT created_at, session_id FROM sessions WHERE workspace = ? AND session_id = ?)`;
      parameters.push(workspace, beforeId);
    }
    const rows = this.database.all<SessionRow>(
      `${SELECT} WHERE ${where} ORDER BY created_at DESC, session_id DESC LIMIT ?`,
      [...parameters, limit],
    );
    return rows.map((row) => toSession(workspaceId, row));
  }

  async replaceActiveFiles(
    workspaceId: string,
    sessionId: string,
    files: readonly ActiveFile[],
  ): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    const text = JSON.stringify(files);
    await this.database.write(() => {
      const session = this.database.get<[string, number | null]>(
        `SELECT s.user_id, length(CAST(a.files AS BLOB)) FROM sessions s LEFT JOIN active_files a
           ON a.workspace = s.workspace AND a.session_id = s.session_id
         WHERE s.workspace = ? AND s.session_id = ?`,
        [workspace, sessionId],
      );
      if (session === null) return;
      const [userId, replaced] = session;
      this.database.run(
        'INSERT OR REPLACE INTO active_files (workspace, session_id, files) VALUES (?, ?, ?)',
        [workspace, sessionId, text],
      );
      count(this.database, workspaceId, userId, { bytes: Buffer.byteLength(text) - (replaced ?? 0) });
    });
  }

  async activeFilesOf(workspaceId: string, sessionId: string): Promise<ActiveFile[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const row = this.database.get<[string]>(
      'SELECT files FROM active_files WHERE workspace = ? AND session_id = ?',
      [workspace, sessionId],
    );
    return row === null ? [] : (JSON.parse(row[0]) as ActiveFile[]);
  }
}

function toSession(workspaceId: string, row: SessionRow): SessionRecord {
  const [id, conversationId, userId, clientId, chosen, createdAt] = row;
  const tools = chosen === null ? null : (JSON.parse(chosen) as string[]);
  return { id, workspaceId, conversationId, userId, clientId, tools, createdAt };
}
