import { Injectable } from '@nestjs/common';
import type { StoredFile } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { FileStore, type FileVersion } from '../storage/ports/files.store.js';
import type { ChangeOrigin } from './change-origin.js';
import type { CloudPath } from './cloud-path.js';
import { FileWrites, type Precondition } from './file-writes.js';
import { FilesService } from './files.service.js';

/** Reads and writes files as bytes. */
@Injectable()
export class ContentsService {
  constructor(
    private readonly store: FileStore,
    private readonly files: FilesService,
    private readonly writes: FileWrites,
  ) {}

  /** The head of the file at a path, or one of its versions, also after the file was deleted. */
  async version(workspaceId: string, target: CloudPath, versionId: string | null): Promise<FileVersion> {
    if (versionId === null) return (await this.files.requireFile(workspaceId, target)).head;
    const live = await this.store.at(workspaceId, target.docPath);
    const candidates = [live, await this.store.lastDeletedAt(workspaceId, target.docPath)];
    for (const file of candidates) {
      if (file?.kind !== 'file') continue;
      const version = await this.store.versionOf(workspaceId, file.id, versionId);
      if (version !== null) return version;
    }
    throw new DomainError('NOT_FOUND', `${target.path} has no such version.`);
  }

  bytes(workspaceId: string, version: FileVersion): Promise<Buffer> {
    return this.files.bytesOf(workspaceId, version);
  }

  /** Stores bytes at a path if the precondition allows it. */
  async put(
    origin: ChangeOrigin,
    target: CloudPath,
    bytes: Uint8Array,
    precondition: Precondition,
  ): Promise<{ stored: StoredFile; created: boolean }> {
    const { file, created } = await this.writes.write(origin, target, { bytes, shape: 'text' }, precondition);
    const { id: fileId, path, docPath, head } = file;
    const { sha256, sizeBytes } = head;
    return { stored: { fileId, versionId: head.id, path, docPath, sha256, sizeBytes }, created };
  }
}
