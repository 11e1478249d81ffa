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

/** A file that a client sends because it has changed on its disk. */
export interface Upload {
  target: CloudPath;
  content: NewContent;
  sha256: string;
  /** The heads that it may replace, by their sha256; null: there is none. */
  bases: readonly (string | null)[];
}

/** Takes files from clients as the new Cloud truth: `files:put` [FILE-5]. */
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
   * The version that the upload became. The same upload again, known by its file patch or by being the head already, is
   * the same version. STALE where the head is not its base, CONFLICT where a folder or a file is in its way: the bytes
   * are kept as a version that never was the head.
   */
  async put(origin: ChangeOrigin, upload: Upload): Promise<FilePutAnswer> {
    this.writes.checkFile(upload.target, upload.content.bytes.length);
    const outcome = await this.paths.attempt(origin, [upload.target], () => this.settle(origin, upload));
    if ('refusal' in outcome) throw outcome.refusal;
    return outcome;
  }

  /**
   * sha256 of the head that a path had at that time; null where it had none. Of what has been moved or brought back
   * since only the place where it is now is known.
   */
  async headAt(workspaceId: string, { docPath }: CloudPath, time: number): Promise<string | null> {
    const live = await this.files.at(workspaceId, docPath);
    const file = live?.kind === 'file' ? live : await this.files.lastDeletedAt(workspaceId, docPath);
    if (file === null || (file.deletedAt !== null && file.deletedAt <= time)) return null;
    const head = await formerHead(this.files, file, null, ({ createdAt }) => createdAt <= time);
    return head?.sha256 ?? null;
  }

  /** Null where another process has changed what was read. */
  private async settle(origin: ChangeOrigin, upload: Upload): Promise<Outcome | null> {
    const { workspaceId, filePatchId } = origin;
    const { target, content, sha256 } = upload;
    const known = filePatchId && (await this.files.versionOfPatch(workspaceId, filePatchId, sha256));
    const entry = await this.files.at(workspaceId, target.docPath);
    if (known) return sameAgain(known, entry?.kind === 'file' ? entry : null, target);
    if (entry?.kind === 'folder') return this.keep(origin, upload, inTheWay(`${entry.path} is a folder.`));
    const current = entry?.head.sha256 ?? null;
    // A folder in step may have sent what a patch has written before the patch's own upload comes.
    const mayReplace = upload.bases.includes(current);
    if (entry && current === sha256 && !(mayReplace && changesMode(entry.head, content)))
      return saved(entry, entry.head);
    if (!mayReplace) return this.keep(origin, upload, movedOn(current));
    try {
      const written = await this.writes.put(origin, target, entry, content, true);
      return written && saved(written.file, written.file.head);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'CONFLICT') throw error;
      return this.keep(origin, upload, inTheWay(error.message));
    }
  }

  /** Rejections never lose bytes: the upload becomes a version of the file that is, or was, or now is only that. */
  private async keep(origin: ChangeOrigin, upload: Upload, refusal: Refusal): Promise<Outcome | null> {
    const { workspaceId } = origin;
    const { docPath } = upload.target;
    const live: Entry | null = await this.files.at(workspaceId, docPath);
    const file = live?.kind === 'file' ? live : await this.files.lastDeletedAt(workspaceId, docPath);
    // Of a patched file the version is asked for by its filePatchId, so each has one of its own.
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

  /** There is no file of this docPath: one that counts as deleted holds the bytes until somebody restores it. */
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

/** What became of an upload. */
type Outcome = FilePutAnswer | { refusal: DomainError };
/** Says why an upload did not become the head, and as which version it is kept. */
type Refusal = (kept: FileVersion) => DomainError;

/** The answer to an upload that was settled before; `live` is the file that is at its path now. */
function sameAgain(
  { fileId, version }: { fileId: string; version: FileVersion },
  live: FileRecord | null,
  { path }: CloudPath,
): Outcome {
  if (!version.conflict) return saved({ id: fileId, path: live?.path ?? path }, version);
  return { refusal: movedOn(live?.head.sha256 ?? null)(version) };
}

function saved({ id: fileId, path }: Pick<FileRecord, 'id' | 'path'>, { id }: FileVersion): FilePutAnswer {
  return { fileId, versionId: id, path };
}

function movedOn(currentSha256: string | null): Refusal {
  return ({ id: conflictVersionId }) =>
    new DomainError(
      'STALE',
      'The Cloud file has moved on since this one was based on it. The upload is kept as a version beside the head.',
      { details: { currentSha256, conflictVersionId } },
    );
}

function inTheWay(what: string): Refusal {
  return ({ id: conflictVersionId }) =>
    new DomainError('CONFLICT', `${what} The upload is kept as a version of a deleted file.`, {
      details: { currentSha256: null, conflictVersionId },
    });
}
