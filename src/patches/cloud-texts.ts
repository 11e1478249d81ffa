import { Injectable } from '@nestjs/common';
import type { ActiveFile } from '@patchbay/protocol';
import { BlobStore } from '../storage/ports/blobs.store.js';
import { FileStore } from '../storage/ports/files.store.js';
import { type SessionRecord, SessionStore } from '../storage/records/sessions.js';

/** The newest Cloud version of a file. */
export interface CloudHead {
  versionId: string;
  sha256: string;
  sizeBytes: number;
}

/** Reads the base texts that the server holds. */
@Injectable()
export class CloudTexts {
  constructor(
    private readonly files: FileStore,
    private readonly blobs: BlobStore,
    private readonly sessions: SessionStore,
  ) {}

  /** The newest Cloud version of a live file. */
  async head(workspaceId: string, docPath: string): Promise<CloudHead | null> {
    const entry = await this.files.at(workspaceId, docPath);
    if (entry?.kind !== 'file') return null;
    const { id: versionId, sha256, sizeBytes } = entry.head;
    return { versionId, sha256, sizeBytes };
  }

  /** The path of a file in its own spelling, without the leading slash; of a deleted file, its last one. */
  async pathOf(workspaceId: string, docPath: string): Promise<string> {
    const entry = await this.files.at(workspaceId, docPath);
    const file = entry?.kind === 'file' ? entry : await this.files.lastDeletedAt(workspaceId, docPath);
    return file?.path.slice(1) ?? docPath;
  }

  /** Bytes of any version in the workspace with this sha256; null if there are none. */
  bytes(workspaceId: string, sha256: string): Promise<Buffer | null> {
    return this.blobs.read(workspaceId, sha256);
  }

  /** The Active Files of the session, by docPath. */
  async activeFiles({ workspaceId, id }: SessionRecord): Promise<Map<string, ActiveFile>> {
    const active = await this.sessions.activeFilesOf(workspaceId, id);
    return new Map(active.map((file) => [file.docPath, file]));
  }
}
