import { Injectable } from '@nestjs/common';
import { BlobStore } from '../ports/blobs.store.js';
import { blobBytes, blobKey, insertBlob } from './blobs.js';
import { SqliteDatabase } from './database.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqliteBlobStore extends BlobStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async put(workspaceId: string, sha256: string, bytes: Uint8Array, now: number): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => {
      const known = blobKey(this.database, workspace, sha256);
      if (known === null) {
        const blob = insertBlob(this.database, workspace, sha256, bytes);
        this.database.run('INSERT INTO loose_blobs (blob, put_at) VALUES (?, ?)', [blob, now]);
      } else {
        this.database.run('UPDATE loose_blobs SET put_at = ? WHERE blob = ?', [now, known]);
      }
    });
  }

  async missing(workspaceId: string, sha256s: readonly string[]): Promise<string[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [...sha256s];
    return sha256s.filter((sha256) => blobKey(this.database, workspace, sha256) === null);
  }

  async read(workspaceId: string, sha256: string): Promise<Buffer | null> {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null ? null : blobBytes(this.database, workspace, sha256);
  }

  sweep(before: number, limit: number): Promise<number> {
    return this.database.write(() => {
      const loose = this.database.all<[number]>(
        'SELECT blob FROM loose_blobs WHERE put_at < ? ORDER BY put_at LIMIT ?',
        [before, limit],
      );
      for (const row of loose) {
        this.database.run('DELETE FROM blobs WHERE id = ?', row);
        this.database.run('DELETE FROM loose_blobs WHERE blob = ?', row);
      }
      return loose.length;
    });
  }
}
