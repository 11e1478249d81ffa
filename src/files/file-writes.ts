import { Injectable } from '@nestjs/common';
import { sha256 } from '@patchbay/protocol/hash';
import { Clock } from '../common/clock.js';
import { DomainError, fieldError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { Config } from '../config/config.js';
import {
  type ContentShape,
  type FileRecord,
  FileStore,
  type FileVersion,
  type FolderRecord,
} from '../storage/ports/files.store.js';
import { type ChangeOrigin, fileEvent } from './change-origin.js';
import { type CloudPath, inRootOf } from './cloud-path.js';
import { fileFields, movedFields } from './file-fields.js';
import { FileHeads } from './file-heads.js';
import { Folders, wasMade } from './folders.js';
import { NearestPath } from './nearest-path.js';
import { PathLocks } from './path-locks.js';

/** Content of a new version. */
export interface NewContent {
  bytes: Uint8Array;
  shape: ContentShape;
  /** The workspace already holds the bytes. */
  isHeld?: true;
  /** Absent: as in the head. */
  isExecutable?: boolean | null | undefined;
}

/** Checks a write against the head that it replaces, null if there is none; throws to refuse it. */
export type Precondition = (head: FileVersion | null) => void;

/** Changes Cloud files and folders one path at a time, each with its audit event. */
@Injectable()
export class FileWrites {
  constructor(
    private readonly files: FileStore,
    private readonly heads: FileHeads,
    private readonly folders: Folders,
    private readonly paths: PathLocks,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly nearest: NearestPath,
  ) {}

  /**
   * Stores content as a new version or a new file, and creates missing folders. The path takes the spelling of existing
   * folders. `isOwnPath` keeps its own spelling, for a client with two folders that differ by case.
   */
  async write(
    origin: ChangeOrigin,
    target: CloudPath,
    content: NewContent,
    precondition: Precondition = () => undefined,
    isOwnPath = false,
  ): Promise<{ file: FileRecord; created: boolean }> {
    this.checkFile(target, content.bytes.length);
    return this.paths.attempt(origin, [target], async () => {
      const entry = await this.files.at(origin.workspaceId, target.docPath);
      if (entry?.kind === 'folder') throw fieldError('path', 'is a folder');
      precondition(entry?.head ?? null);
      return this.put(origin, target, entry, content, isOwnPath);
    });
  }

  /** Stores content over the current entry, null if there is none; the caller holds the lock of the path. */
  put(
    origin: ChangeOrigin,
    target: CloudPath,
    current: FileRecord | null,
    content: NewContent,
    isOwnPath = false,
  ): Promise<{ file: FileRecord; created: boolean } | null> {
    return current === null
      ? this.create(origin, target, content, isOwnPath)
      : this.addVersion(origin, current, content);
  }

  /** Derives a new version from the head and stores it atomically, within the size limit. */
  async rewrite(
    origin: ChangeOrigin,
    target: CloudPath,
    change: (file: FileRecord) => Promise<NewContent>,
  ): Promise<FileRecord> {
    if (target.docPath === '') throw fieldError('path', 'is a folder');
    const { file } = await this.paths.attempt(origin, [target], async () => {
      const entry = await this.files.at(origin.workspaceId, target.docPath);
      if (entry === null) throw await this.nearest.notFound(origin.workspaceId, 'File', target);
      if (entry.kind === 'folder') throw fieldError('path', 'is a folder');
      if (target.namesFolder) throw fieldError('path', 'is a file; leave out the last slash');
      return this.addVersion(origin, entry, await change(entry));
    });
    return file;
  }

  /** Deletes a file or an empty folder. Returns what was there. */
  async remove(
    origin: ChangeOrigin,
    target: CloudPath,
    precondition: Precondition = () => undefined,
  ): Promise<FileRecord | FolderRecord> {
    if (target.docPath === '') throw fieldError('path', 'is the root, which stays');
    return this.paths.attempt(origin, [target], async () => {
      const entry = await this.files.at(origin.workspaceId, target.docPath);
      precondition(entry?.kind === 'file' ? entry.head : null);
      if (entry === null) throw await this.nearest.notFound(origin.workspaceId, 'File', target);
      if (entry.kind === 'folder') return this.folders.removeEmpty(origin, entry);
      if (target.namesFolder) throw fieldError('path', 'is a file; leave out the last slash');
      const now = this.clock.now();
      const deleted = { ...entry, revision: entry.revision + 1, deletedAt: now };
      const event = fileEvent('File.Deleted', origin, now, fileFields(entry));
      return (await this.heads.save(origin, entry, deleted, event)) ? entry : null;
    });
  }

  /** Creates a folder and its parents; an existing one is unchanged. */
  async makeFolder(
    origin: ChangeOrigin,
    target: CloudPath,
  ): Promise<{ folder: FolderRecord; created: boolean }> {
    if (target.docPath === '') throw fieldError('path', 'is the root, which is always there');
    return this.paths.attempt(origin, [target], async () => {
      const entry = await this.files.at(origin.workspaceId, target.docPath);
      if (entry?.kind === 'file') throw new DomainError('CONFLICT', `${entry.path} is a file.`);
      if (entry !== null && wasMade(entry)) return { folder: entry, created: false };
      const now = this.clock.now();
      // An implicit folder keeps the name under which it is listed.
      const named = { ...target, path: entry?.path ?? target.path };
      const path = await this.folders.pathFor(origin, named, now, { files: 1, versions: 1 });
      const folder = path === null ? null : await this.folders.make(origin, path, target.docPath, now);
      return folder && { folder, created: true };
    });
  }

  /** Moves a file and creates the target's parents; its id and versions stay. */
  async move(
    origin: ChangeOrigin,
    from: CloudPath,
    to: CloudPath,
  ): Promise<{ from: FileRecord; to: FileRecord }> {
    if (from.docPath === '') throw fieldError('from', 'is a folder; move its files one by one');
    if (to.docPath === '' || to.namesFolder) throw fieldError('to', 'must be the full new path of the file');
    return this.paths.attempt(origin, [from, to], async () => {
      const file = await this.files.at(origin.workspaceId, from.docPath);
      if (file === null) throw await this.nearest.notFound(origin.workspaceId, 'File', from);
      if (file.kind === 'folder') throw fieldError('from', 'is a folder; move its files one by one');
      if (from.namesFolder) throw fieldError('from', 'is a file; leave out the last slash');
      const taken = await this.files.at(origin.workspaceId, to.docPath);
      if (taken !== null && taken.id !== file.id)
        throw new DomainError('CONFLICT', `${taken.path} is there already.`);
      const now = this.clock.now();
      const place = await this.folders.pathFor(origin, to, now);
      if (place === null) return null;
      const path = await this.folders.spelling(origin.workspaceId, to, place);
      if (path === file.path) return { from: file, to: file };
      const moved = { ...file, path, docPath: to.docPath, revision: file.revision + 1, updatedAt: now };
      const event = fileEvent('File.Moved', origin, now, movedFields(moved, file.path));
      return (await this.heads.save(origin, file, moved, event)) ? { from: file, to: moved } : null;
    });
  }

  /** Builds the version of content that is about to be stored. */
  newVersion(
    origin: ChangeOrigin,
    number: number,
    content: NewContent,
    now: number,
    { head = null, conflict = false }: { head?: FileVersion | null; conflict?: boolean } = {},
  ): FileVersion {
    const { userId: author, source, batchId, filePatchId, callId } = origin;
    return {
      ...{ id: newId(), number, sha256: sha256(content.bytes), sizeBytes: content.bytes.length },
      isExecutable: content.isExecutable ?? head?.isExecutable ?? null,
      ...{ shape: content.shape, author, source, batchId, filePatchId, callId, conflict, createdAt: now },
    };
  }

  /** Refuses a path that no file can have, and content that is too large. */
  checkFile(target: CloudPath, sizeBytes: number): void {
    if (target.docPath === '') throw fieldError('path', 'is a folder');
    if (target.namesFolder) throw fieldError('path', 'names a folder; leave out the last slash');
    if (sizeBytes > this.config.maxFileBytes) throw this.tooLarge(sizeBytes);
  }

  /** The error for content of that size. */
  tooLarge(sizeBytes: number): DomainError {
    const { maxFileBytes } = this.config;
    return new DomainError('TOO_LARGE', `The file has ${sizeBytes} bytes; the limit is ${maxFileBytes}.`);
  }

  private async create(
    origin: ChangeOrigin,
    target: CloudPath,
    content: NewContent,
    isOwnPath: boolean,
  ): Promise<{ file: FileRecord; created: boolean } | null> {
    const now = this.clock.now();
    const adds = { files: 1, versions: 1, ...newBytes(content) };
    const place = await this.folders.pathFor(origin, target, now, adds);
    if (place === null) return null;
    const path = isOwnPath
      ? inRootOf(place, target.path)
      : await this.folders.spelling(origin.workspaceId, target, place);
    const file: FileRecord = {
      kind: 'file',
      id: newId(),
      workspaceId: origin.workspaceId,
      path,
      docPath: target.docPath,
      revision: 1,
      lastNumber: 1,
      head: this.newVersion(origin, 1, content, now),
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
      holder: origin.userId,
    };
    const event = fileEvent('File.Created', origin, now, fileFields(file));
    const done = await this.heads.insert(origin, file, content.bytes, event, newBytes(content));
    return done ? { file, created: true } : null;
  }

  private async addVersion(
    origin: ChangeOrigin,
    file: FileRecord,
    content: NewContent,
  ): Promise<{ file: FileRecord; created: boolean } | null> {
    const now = this.clock.now();
    const number = file.lastNumber + 1;
    const head = this.newVersion(origin, number, content, now, { head: file.head });
    const next = { ...file, revision: file.revision + 1, lastNumber: number, head, updatedAt: now };
    const event = fileEvent('File.Updated', origin, now, fileFields(next));
    const done = await this.heads.commitVersion(
      origin,
      next,
      file.revision,
      content.bytes,
      event,
      newBytes(content),
    );
    return done ? { file: next, created: false } : null;
  }
}

/** Whether the content changes the executable flag; an unset flag counts as not executable. */
export function changesMode(head: FileVersion, { isExecutable }: Pick<NewContent, 'isExecutable'>): boolean {
  return (isExecutable ?? null) !== null && isExecutable !== (head.isExecutable ?? false);
}

/** The bytes that content adds to the workspace. */
export function newBytes({ bytes, isHeld }: NewContent): { bytes: number } {
  return { bytes: isHeld ? 0 : bytes.length };
}
