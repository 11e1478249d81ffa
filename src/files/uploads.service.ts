import { Injectable } from '@nestjs/common';
import type { FilePutAnswer } from '@patchbay/protocol';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { type Entry, type FileRecord, FileStore, type FileVersion } from '../storage/ports/files.store.js';
import { type ChangeOrigin, fileEvent } from './change-origin.js';
import type { CloudPath } from './cloud-path.js';
import { fileFields } from './file-fields.js';
import { FileWrites, type NewContent } from './file-writes.js';

/** A file that a client sends because it has changed on its disk. */
export interface Upload {
  target: CloudPath;
  content: NewContent;
  sha256: string;
  /** sha256 of the Cloud head that it replaces; null: there is none. */
  baseSha256: string | null;
}

/** Takes files from clients as the new Cloud truth (contract.md section 5, `files:put`). */
@Injectable()
export class UploadsService {
  constructor(
    private readonly files: FileStore,
    private readonly writes: FileWrites,
    private readonly clock: Clock,
  ) {}

  /**
   * The version that the upload became. The same upload again, known by its file patch or by being the head already, is
   * the same version. STALE where the head is not its base: the bytes are kept as a version beside the head.
   */
  async put(origin: ChangeOrigin, upload: Upload): Promise<FilePutAnswer> {
    this.writes.checkSize(upload.content.bytes);
    const { workspaceId, filePatchId } = origin;
    const known = filePatchId && (await this.files.versionOfPatch(workspaceId, filePatchId, upload.sha256));
    if (known) return this.answerAgain(workspaceId, known.fileId, known.version);
    const head = await this.files.at(workspaceId, upload.target.docPath);
    if (head?.kind === 'file' && head.head.sha256 === upload.sha256 && !filePatchId) {
      return { fileId: head.id, versionId: head.head.id };
    }
    return this.store(origin, upload);
  }

  private async store(origin: ChangeOrigin, upload: Upload): Promise<FilePutAnswer> {
    let stale = false;
    const written = await this.writes
      .write(origin, upload.target, upload.content, (head) => {
        stale = (head?.sha256 ?? null) !== upload.baseSha256;
        if (stale) throw new StaleBase();
      })
      .catch((error: unknown) => {
        if (error instanceof StaleBase) return null;
        throw error;
      });
    if (written) return { fileId: written.file.id, versionId: written.file.head.id };
    const kept = await this.keep(origin, upload);
    throw staleError(kept.current, kept.version);
  }

  /** Rejections never lose bytes: the upload becomes a version of the file that is, or was, or now is only that. */
  private keep(
    origin: ChangeOrigin,
    upload: Upload,
  ): Promise<{ current: string | null; version: FileVersion }> {
    return this.writes.attempt(origin, [upload.target], async () => {
      const { workspaceId } = origin;
      const { docPath } = upload.target;
      const live: Entry | null = await this.files.at(workspaceId, docPath);
      const current = live?.kind === 'file' ? live.head.sha256 : null;
      const file = live?.kind === 'file' ? live : await this.files.lastDeletedAt(workspaceId, docPath);
      const version = await (file ? this.keepBeside(origin, file, upload) : this.keepAlone(origin, upload));
      return version && { current, version };
    });
  }

  private async keepBeside(
    origin: ChangeOrigin,
    file: FileRecord,
    upload: Upload,
  ): Promise<FileVersion | null> {
    const now = this.clock.now();
    const number = file.lastNumber + 1;
    const version = this.writes.newVersion(origin, number, upload.content, now, true);
    const next = { ...file, revision: file.revision + 1, lastNumber: number };
    const event = fileEvent('File.ConflictStored', origin, now, fileFields(file, version));
    const { bytes } = upload.content;
    return (await this.files.keepConflict(next, file.revision, version, bytes, [event])) ? version : null;
  }

  /** There is no file of this docPath: one that counts as deleted holds the bytes until somebody restores it. */
  private async keepAlone(origin: ChangeOrigin, upload: Upload): Promise<FileVersion | null> {
    const now = this.clock.now();
    const head = this.writes.newVersion(origin, 1, upload.content, now, true);
    const { path, docPath } = upload.target;
    const file: FileRecord = {
      ...{ kind: 'file', id: newId(), workspaceId: origin.workspaceId, path, docPath, revision: 1 },
      ...{ lastNumber: 1, head, createdAt: now, updatedAt: now, deletedAt: now },
    };
    const event = fileEvent('File.ConflictStored', origin, now, fileFields(file));
    return (await this.files.insert(file, upload.content.bytes, [event])) ? head : null;
  }

  private async answerAgain(
    workspaceId: string,
    fileId: string,
    version: FileVersion,
  ): Promise<FilePutAnswer> {
    if (!version.conflict) return { fileId, versionId: version.id };
    const file = await this.files.byId(workspaceId, fileId);
    throw staleError(file && file.deletedAt === null ? file.head.sha256 : null, version);
  }
}

class StaleBase extends Error {}

function staleError(currentSha256: string | null, { id: conflictVersionId }: FileVersion): DomainError {
  return new DomainError(
    'STALE',
    'The Cloud file has moved on since this one was based on it. The upload is kept as a version beside the head.',
    { details: { currentSha256, conflictVersionId } },
  );
}
