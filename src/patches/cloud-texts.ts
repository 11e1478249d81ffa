import { Injectable } from '@nestjs/common';
import { BlobStore } from '../storage/ports/blobs.store.js';
import { FileStore } from '../storage/ports/files.store.js';
import type { PatchBase } from '../storage/ports/patches.store.js';
import { type SessionRecord, SessionStore } from '../storage/ports/sessions.store.js';

/** What the server holds of the texts that patches are made on. */
@Injectable()
export class CloudTexts {
  constructor(
    private readonly files: FileStore,
    private readonly blobs: BlobStore,
    private readonly sessions: SessionStore,
  ) {}

  /** The newest Cloud version of a live file. */
  async head(workspaceId: string, docPath: string): Promise<PatchBase | null> {
    const entry = await this.files.at(workspaceId, docPath);
    return entry?.kind === 'file' ? { versionId: entry.head.id, sha256: entry.head.sha256 } : null;
  }

  /** Bytes that some version of some file of the workspace has; null where none has this sha256. */
  bytes(workspaceId: string, sha256: string): Promise<Buffer | null> {
    return this.blobs.read(workspaceId, sha256);
  }

  /** The sha256 of a file that is open in the session's client; null where it is not. */
  async activeSha256({ workspaceId, id }: SessionRecord, docPath: string): Promise<string | null> {
    const active = await this.sessions.activeFilesOf(workspaceId, id);
    return active.find((file) => file.docPath === docPath)?.sha256 ?? null;
  }
}
