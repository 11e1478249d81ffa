import { Injectable } from '@nestjs/common';
import { DomainError, fieldError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { BlobStore } from '../storage/ports/blobs.store.js';
import {
  type Entry,
  type FileRecord,
  FileStore,
  type FileVersion,
  type ListedEntry,
} from '../storage/ports/files.store.js';
import { type CloudPath, folderOf } from './cloud-path.js';
import { NearestPath } from './nearest-path.js';

/** Entries in one listing. */
export const MAX_ENTRIES = 100_000;
/** Entries per read, since a read blocks the calls of every other workspace. */
const STEP = 1_000;

/** A folder in a listing; the root has no record. */
export interface ListedFolder {
  path: string;
  docPath: string;
}

/** Reads a workspace's Cloud files. */
@Injectable()
export class FilesService {
  constructor(
    private readonly files: FileStore,
    private readonly blobs: BlobStore,
    private readonly nearest: NearestPath,
  ) {}

  /** The entry at a path; null if there is none. */
  at(workspaceId: string, { docPath }: Pick<CloudPath, 'docPath'>): Promise<Entry | null> {
    return this.files.at(workspaceId, docPath);
  }

  /** The file that was deleted last at a path. */
  lastDeletedAt(workspaceId: string, { docPath }: Pick<CloudPath, 'docPath'>): Promise<FileRecord | null> {
    return this.files.lastDeletedAt(workspaceId, docPath);
  }

  /** The file at a path; NOT_FOUND if there is none, VALIDATION_ERROR on `field` for a folder. */
  async requireFile(workspaceId: string, target: CloudPath, field = 'path'): Promise<FileRecord> {
    if (target.docPath === '') throw fieldError(field, 'is a folder');
    const entry = await this.files.at(workspaceId, target.docPath);
    if (entry === null) throw await this.nearest.notFound(workspaceId, 'File', target);
    if (entry.kind === 'folder' || target.namesFolder) {
      throw fieldError(
        field,
        entry.kind === 'folder' ? 'is a folder' : 'is a file; leave out the last slash',
      );
    }
    return entry;
  }

  /** The folder at a path; NOT_FOUND if there is none, VALIDATION_ERROR for a file there or above. */
  async requireFolder(workspaceId: string, target: CloudPath): Promise<ListedFolder> {
    if (target.docPath === '') return target;
    const entry = await this.files.at(workspaceId, target.docPath);
    if (entry?.kind === 'folder') return entry;
    if (entry !== null) return this.requireBelow(entry);
    const file = await this.fileAbove(workspaceId, target);
    if (file !== null) throw fieldError('path', `is below ${file.path}, which is a file`);
    throw await this.nearest.notFound(workspaceId, 'Folder', target);
  }

  /** The bytes of a version. */
  async bytesOf(workspaceId: string, { sha256 }: Pick<FileVersion, 'sha256'>): Promise<Buffer> {
    await yieldIfBusy();
    const bytes = await this.blobs.read(workspaceId, sha256);
    if (bytes === null) throw new Error(`The bytes of ${sha256} are missing`);
    return bytes;
  }

  /** The direct content of a folder, by code point of the path; TOO_LARGE if one answer cannot hold it. */
  async childrenOf(workspaceId: string, { docPath }: ListedFolder): Promise<ListedEntry[]> {
    return this.collect((last, limit) =>
      this.files.childrenOf(workspaceId, docPath, last?.path ?? null, limit),
    );
  }

  /** Everything below a folder, by docPath; TOO_LARGE if one answer cannot hold it. */
  async below(workspaceId: string, { docPath }: ListedFolder): Promise<ListedEntry[]> {
    return this.collect((last, limit) =>
      this.files.below(workspaceId, docPath, last?.docPath ?? null, limit),
    );
  }

  /** All files below a folder, by docPath, in steps of a thousand. */
  async *walk(
    workspaceId: string,
    { docPath }: Pick<ListedFolder, 'docPath'>,
  ): AsyncGenerator<ListedEntry[]> {
    let last: string | null = null;
    for (;;) {
      await yieldIfBusy();
      const found: ListedEntry[] = await this.files.below(workspaceId, docPath, last, STEP);
      yield found.filter(({ kind }) => kind === 'file');
      if (found.length < STEP) return;
      last = found.at(-1)!.docPath;
    }
  }

  private async collect(
    read: (last: ListedEntry | undefined, limit: number) => Promise<ListedEntry[]>,
  ): Promise<ListedEntry[]> {
    const entries: ListedEntry[] = [];
    for (;;) {
      await yieldIfBusy();
      const found = await read(entries.at(-1), STEP);
      entries.push(...found);
      if (entries.length > MAX_ENTRIES) {
        throw new DomainError(
          'TOO_LARGE',
          `More than ${MAX_ENTRIES} entries; list a narrower folder, or use workspace_list_files page by page.`,
        );
      }
      if (found.length < STEP) return entries;
    }
  }

  /** A parallel write may create a file and another below it; the folder is listed then. */
  private async requireBelow(file: FileRecord): Promise<ListedFolder> {
    const [below] = await this.files.childrenOf(file.workspaceId, file.docPath, null, 1);
    if (below === undefined) throw fieldError('path', 'is a file');
    return file;
  }

  private async fileAbove(workspaceId: string, target: CloudPath): Promise<FileRecord | null> {
    for (let above = folderOf(target); above.docPath !== ''; above = folderOf(above)) {
      const entry = await this.files.at(workspaceId, above.docPath);
      if (entry !== null) return entry.kind === 'file' ? entry : null;
    }
    return null;
  }
}
