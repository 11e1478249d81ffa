import { Injectable } from '@nestjs/common';
import { BlobStore } from '../ports/blobs.store.js';
import type { Membership } from '../ports/turn.js';
import { blobBytes, blobKey, insertBlob, removeBlob } from './blobs.js';
import { SqliteDatabase } from './database.js';
import { requireMember } from './members.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqliteBlobStore extends BlobStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async put(
    { workspaceId, userId }: Membership,
    sha256: string,
    bytes: Uint8Array,
    now: number,
  ): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => {
      requireMember(this.database, workspace, userId);
      const known = blobKey(this.database, workspace, sha256);
      if (known === null) {
        const blob = insertBlob(this.database, { workspaceId, workspace, userId }, sha256, bytes);
        this.database.run('INSERT INTO loose_blobs (blob, put_at) VALUES (?, ?)', [blob, now]);
      } else {
        this.database.run('UPDATE loose_blobs SET put_at = ?, marked_at = NULL WHERE blob = ?', [now, known]);
      }
    });
  }

  async missing(workspaceId: string, sha256s: readonly string[]): Promise<string[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [...sha256s];
    return sha256s.filter((sha256) => {
      const blob = blobKey(this.database, workspace, sha256);
      return blob === null || this.isMarked(blob);
    });
  }

  async read(workspaceId: string, sha256: string): Promise<Buffer | null> {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null ? null : blobBytes(this.database, workspace, sha256);
  }

  // A blob is loose while no version references it: jobs that change versions also update that.
  mark(before: number, limit: number, now: number): Promise<boolean> {
    return this.database.write(() => {
      const { changes } = this.database.run(
        `UPDATE loose_blobs SET marked_at = ? WHERE blob IN
          (SELECT blob FROM loose_blobs WHERE marked_at IS NULL AND put_at < ? ORDER BY put_at LIMIT ?)`,
        [now, before, limit],
      );
      return changes === limit;
    });
  }

  removeMarked(markedBefore: number, limit: number): Promise<boolean> {
    return this.database.write(() => {
      const marked = this.database.all<[number]>(
        'SELECT blob FROM loose_blobs WHERE marked_at < ? ORDER BY marked_at LIMIT ?',
        [markedBefore, limit],
      );
      for (const [blob] of marked) {
        removeBlob(this.database, (key) => this.workspaces.idOf(key), blob);
      }
      return marked.length === limit;
    });
  }

  private isMarked(blob: number): boolean {
    const sql = 'SELECT 1 FROM loose_blobs WHERE blob = ? AND marked_at IS NOT NULL';
    return this.database.get(sql, [blob]) !== null;
  }
}
