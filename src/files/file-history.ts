import { Injectable } from '@nestjs/common';
import { type CloudFileVersion, type RestoredFile } from '@patchbay/protocol';
import { Clock, isoTime } from '../common/clock.js';
import { DomainError, fieldError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { type FileRecord, FileStore, type FileVersion } from '../storage/ports/files.store.js';
import { type ChangeOrigin, fileEvent } from './change-origin.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { asBuffer } from '../common/as-buffer.js';
import { readCloudPath } from './cloud-path.js';
import { DIFF_TEXTS } from './diff-job.js';
import { executable, fileFields } from './file-fields.js';
import { FileHeads } from './file-heads.js';
import { FilesService } from './files.service.js';
import { Folders } from './folders.js';
import { formerHead } from './former-head.js';
import { PathLocks } from './path-locks.js';

/** The versions of a file: list, compare, restore. */
@Injectable()
export class FileHistory {
  constructor(
    private readonly store: FileStore,
    private readonly heads: FileHeads,
    private readonly files: FilesService,
    private readonly paths: PathLocks,
    private readonly folders: Folders,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
    private readonly clock: Clock,
  ) {}

  /** A page of versions, newest first. */
  async versions(
    workspaceId: string,
    fileId: string,
    limit: number,
    cursor: string | undefined,
  ): Promise<{ versions: CloudFileVersion[]; nextCursor: string | null }> {
    await this.require(workspaceId, fileId);
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
      throw fieldError('cursor', 'is not a nextCursor of this list');
    const before = cursor === undefined ? null : Number(cursor);
    const found = await this.store.versionsOf(workspaceId, fileId, before, limit + 1);
    const page = found.slice(0, limit);
    const nextCursor = found.length > limit ? String(page.at(-1)!.number) : null;
    return { versions: page.map(versionView), nextCursor };
  }

  /** One version of the file, head or not. */
  async version(workspaceId: string, fileId: string, versionId: string): Promise<FileVersion> {
    return this.requireVersion(await this.require(workspaceId, fileId), versionId);
  }

  bytes(workspaceId: string, version: FileVersion): Promise<Buffer> {
    return this.files.bytesOf(workspaceId, version);
  }

  /** The unified diff of two versions, by default of the head and its predecessor; a short note if one is not UTF-8. */
  async diff(
    workspaceId: string,
    fileId: string,
    { from, to }: { from?: string | undefined; to?: string | undefined },
    userId: string,
  ): Promise<Buffer> {
    const file = await this.require(workspaceId, fileId);
    const newer = to === undefined ? file.head : await this.requireVersion(file, to);
    const older = from === undefined ? await this.before(file, newer) : await this.requireVersion(file, from);
    const bytes = older.sizeBytes + newer.sizeBytes;
    return this.jobs.runOn(bytes, userId, async () => {
      const before = await this.files.bytesOf(workspaceId, older);
      const after = await this.files.bytesOf(workspaceId, newer);
      const input = { before, after, path: file.path.slice(1) };
      return asBuffer(await this.pool.run(userId, DIFF_TEXTS, input, { bytes }));
    });
  }

  /** Makes an older version the head, or with null undoes a deletion; a live file then stays unchanged. */
  async restore(origin: ChangeOrigin, fileId: string, versionId: string | null): Promise<RestoredFile> {
    const target = await this.require(origin.workspaceId, fileId);
    const restored = await this.paths.attempt(origin, [target], async () => {
      const file = await this.require(origin.workspaceId, fileId);
      if (versionId !== null) {
        return this.bringBack(origin, file, await this.requireVersion(file, versionId));
      }
      return file.deletedAt === null ? file : this.undelete(origin, file);
    });
    return { fileId, versionId: restored.head.id, path: restored.path };
  }

  private async undelete(origin: ChangeOrigin, file: FileRecord): Promise<FileRecord | null> {
    const now = this.clock.now();
    const path = await this.placeFor(origin, file, now);
    if (path === null) return null;
    const { userId: holder } = origin;
    const live = { ...file, path, holder, deletedAt: null, revision: file.revision + 1, updatedAt: now };
    const event = fileEvent('File.Restored', origin, now, fileFields(live));
    return (await this.heads.save(origin, file, live, event)) ? live : null;
  }

  private async bringBack(
    origin: ChangeOrigin,
    file: FileRecord,
    version: FileVersion,
  ): Promise<FileRecord | null> {
    const now = this.clock.now();
    const path = await this.placeFor(origin, file, now);
    if (path === null) return null;
    const { userId: author, source, batchId, filePatchId, callId } = origin;
    const number = file.lastNumber + 1;
    const head: FileVersion = {
      ...version,
      ...{ id: newId(), number, author, source, batchId, filePatchId, callId, createdAt: now },
      conflict: false,
    };
    const next = { ...file, path, head, lastNumber: number, revision: file.revision + 1, updatedAt: now };
    const wasDeleted = file.deletedAt !== null;
    const live: FileRecord = { ...next, deletedAt: null, holder: wasDeleted ? author : file.holder };
    const room = { bytes: 0, files: Number(wasDeleted) };
    const event = fileEvent('File.Restored', origin, now, fileFields(live));
    return (await this.heads.commitVersion(origin, live, file.revision, null, event, room)) ? live : null;
  }

  /**
   * The path to restore a file at, in today's folders. Null if another writer changed them; CONFLICT if the path is
   * taken.
   */
  private async placeFor(origin: ChangeOrigin, file: FileRecord, now: number): Promise<string | null> {
    if (file.deletedAt === null) return file.path;
    const target = readCloudPath(file.path);
    const taken = await this.store.at(origin.workspaceId, target.docPath);
    if (taken !== null) throw new DomainError('CONFLICT', `${taken.path} is there already.`);
    return this.folders.pathFor(origin, target, now, { files: 1 });
  }

  private async require(workspaceId: string, fileId: string): Promise<FileRecord> {
    const file = await this.store.byId(workspaceId, fileId);
    if (file === null) throw new DomainError('NOT_FOUND', 'There is no such file in this workspace.');
    return file;
  }

  private async requireVersion({ workspaceId, id }: FileRecord, versionId: string): Promise<FileVersion> {
    const version = await this.store.versionOf(workspaceId, id, versionId);
    if (version === null) throw new DomainError('NOT_FOUND', 'The file has no such version.');
    return version;
  }

  private async before(file: FileRecord, { number }: FileVersion): Promise<FileVersion> {
    const head = await formerHead(this.store, file, number);
    if (head === null) throw fieldError('from', 'is required: there is no version before this one');
    return head;
  }
}

function versionView({ id, createdAt, ...version }: FileVersion): CloudFileVersion {
  const { number, sha256, sizeBytes, author, source, batchId, filePatchId, callId } = version;
  const mode = executable(version);
  const common = { number, sha256, sizeBytes, ...mode, author, source, batchId, filePatchId, callId };
  return { versionId: id, ...common, createdAt: isoTime(createdAt) };
}
