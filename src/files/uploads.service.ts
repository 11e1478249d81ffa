import { Injectable } from '@nestjs/common';
import type { FilePutAnswer } from '@patchbay/protocol';
import { Quotas } from '../limits/quotas.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { type Entry, type FileRecord, FileStore, type FileVersion } from '../storage/ports/files.store.js';
import { type ChangeOrigin, fileEvent } from './change-origin.js';
import type { CloudPath } from './cloud-path.js';
import { fileFields } from './file-fields.js';
import { changesMode, FileWrites, type NewContent } from './file-writes.js';
import { formerHead } from './former-head.js';
import { PathLocks } from './path-locks.js';

/** A file that a client uploads after a change on its disk. */
export interface Upload {
  target: CloudPath;
  content: NewContent;
  sha256: string;
  /** The heads that it may replace, by sha256; null: no head. */
  bases: readonly (string | null)[];
}

/** Takes files from clients as the new Cloud content: `files:put` [FILE-5]. */
@Injectable()
export class UploadsService {
  constructor(
    private readonly files: FileStore,
    private readonly writes: FileWrites,
    private readonly paths: PathLocks,
    private readonly quotas: Quotas,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the version of the upload; a repeated upload gives the same version. STALE if the head is not its base,
   * CONFLICT if a file or folder is in the way; the bytes are then kept as a conflicting version.
   */
  async put(origin: ChangeOrigin, upload: Upload): Promise<FilePutAnswer> {
    this.writes.checkFile(upload.target, upload.content.bytes.length);
    const outcome = await this.paths.attempt(origin, [upload.target], () => this.settle(origin, upload));
    if ('refusal' in outcome) throw outcome.refusal;
    return outcome;
  }

  /**
   * sha256 of a path's head at that time; null if it had none. Of moved or restored files only the current path is
   * known.
   */
  async headAt(workspaceId: string, { docPath }: CloudPath, time: number): Promise<string | null> {
    const live = await this.files.at(workspaceId, docPath);
    const file = live?.kind === 'file' ? live : await this.files.lastDeletedAt(workspaceId, docPath);
    if (file === null || (file.deletedAt !== null && file.deletedAt <= time)) return null;
    const head = await formerHead(this.files, file, null, ({ createdAt }) => createdAt <= time);
    return head?.sha256 ?? null;
  }

  /** Null if another process changed what was read. */
  private async settle(origin: ChangeOrigin, upload: Upload): Promise<Outcome | null> {
    const { workspaceId, filePatchId } = origin;
    const { target, content, sha256 } = upload;
    const known = filePatchId && (await this.files.versionOfPatch(workspaceId, filePatchId, sha256));
    const entry = await this.files.at(workspaceId, target.docPath);
    if (known) return repeatedAnswer(known, entry?.kind === 'file' ? entry : null, target);
    if (entry?.kind === 'folder')
      return this.keep(origin, upload, conflictRefusal(`${entry.path} is a folder.`));
    const current = entry?.head.sha256 ?? null;
    // A folder in step may have uploaded a patch's bytes before the patch's own upload arrives.
    const mayReplace = upload.bases.includes(current);
    if (entry && current === sha256 && !(mayReplace && changesMode(entry.head, content)))
      return saved(entry, entry.head);
    if (!mayReplace) return this.keep(origin, upload, staleRefusal(current));
    try {
      const written = await this.writes.put(origin, target, entry, content, true);
      return written && saved(written.file, written.file.head);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'CONFLICT') throw error;
      return this.keep(origin, upload, conflictRefusal(error.message));
    }
  }

  /** A rejected upload is kept as a version of the file at its path, live or deleted, or of a new deleted file. */
  private async keep(origin: ChangeOrigin, upload: Upload, refusal: Refusal): Promise<Outcome | null> {
    const { workspaceId } = origin;
    const { docPath } = upload.target;
    const live: Entry | null = await this.files.at(workspaceId, docPath);
    const file = live?.kind === 'file' ? live : await this.files.lastDeletedAt(workspaceId, docPath);
    // The version of a patched file is looked up by filePatchId, so each patch needs its own.
    const mayShare = file !== null && origin.filePatchId === null;
    const version =
      (mayShare ? await this.files.conflictOf(workspaceId, file.id, upload.sha256) : null) ??
      (await (file ? this.keepBeside(origin, file, upload) : this.keepAlone(origin, upload)));
    return version && { refusal: refusal(version) };
  }

  private async keepBeside(
    origin: ChangeOrigin,
    file: FileRecord,
    upload: Upload,
  ): Promise<FileVersion | null> {
    const now = this.clock.now();
    const number = file.lastNumber + 1;
    const version = this.writes.newVersion(origin, number, upload.content, now, {
      head: file.head,
      conflict: true,
    });
    const next = { ...file, revision: file.revision + 1, lastNumber: number };
    const event = fileEvent('File.ConflictStored', origin, now, fileFields(file, version));
    const { bytes } = upload.content;
    const keep = () => this.files.keepConflict(next, file.revision, version, bytes, [event]);
    return (await this.quotas.write(origin, { versions: 1, bytes: bytes.length }, keep)) ? version : null;
  }

  /** No file has this docPath: a new deleted file holds the bytes until somebody restores it. */
  private async keepAlone(origin: ChangeOrigin, upload: Upload): Promise<FileVersion | null> {
    const now = this.clock.now();
    const head = this.writes.newVersion(origin, 1, upload.content, now, { conflict: true });
    const { path, docPath } = upload.target;
    const file: FileRecord = {
      ...{ kind: 'file', id: newId(), workspaceId: origin.workspaceId, path, docPath, revision: 1 },
      ...{ lastNumber: 1, head, createdAt: now, updatedAt: now, deletedAt: now },
      holder: origin.userId,
    };
    const event = fileEvent('File.ConflictStored', origin, now, fileFields(file));
    const { bytes } = upload.content;
    const keep = () => this.files.insert(file, bytes, [event]);
    return (await this.quotas.write(origin, { versions: 1, bytes: bytes.length }, keep)) ? head : null;
  }
}

/** Outcome of an upload. */
type Outcome = FilePutAnswer | { refusal: DomainError };
/** Builds the error that names the conflicting version under which the bytes are kept. */
type Refusal = (kept: FileVersion) => DomainError;

/** The answer to a repeated upload; `live` is the file now at its path. */
function repeatedAnswer(
  { fileId, version }: { fileId: string; version: FileVersion },
  live: FileRecord | null,
  { path }: CloudPath,
): Outcome {
  if (!version.conflict) return saved({ id: fileId, path: live?.path ?? path }, version);
  return { refusal: staleRefusal(live?.head.sha256 ?? null)(version) };
}

function saved({ id: fileId, path }: Pick<FileRecord, 'id' | 'path'>, { id }: FileVersion): FilePutAnswer {
  return { fileId, versionId: id, path };
}

function staleRefusal(currentSha256: string | null): Refusal {
  return ({ id: conflictVersionId }) =>
    new DomainError(
      'STALE',
      'The Cloud file has moved on since this one was based on it. The upload is kept as a version beside the head.',
      { details: { currentSha256, conflictVersionId } },
    );
}

function conflictRefusal(what: string): Refusal {
  return ({ id: conflictVersionId }) =>
    new DomainError('CONFLICT', `${what} The upload is kept as a version of a deleted file.`, {
      details: { currentSha256: null, conflictVersionId },
    });
}
