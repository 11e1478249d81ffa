import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter } from 'mongoose';
import { DomainError } from '../../common/domain-error.js';
import type { AuditDraft } from '../ports/audit.store.js';
import {
  type Entry,
  type FileCursor,
  type FileFilter,
  type FileRecord,
  FileStore,
  type FileVersion,
  type FolderRecord,
  type ListedEntry,
  type VersionBytes,
} from '../ports/files.store.js';
import { prefixEnd } from '../prefix-end.js';
import { Blobs } from './blobs.js';
import { MongoDatabase } from './database.js';
import { documentOf, ENTRY, entryId, livePlace, locationOf, type StoredEntry, toEntry } from './entries.js';
import { EntryWrites } from './entry-writes.js';
import { type EntryDocument, ENTRIES } from './file-collections.js';
import { FolderSpellings } from './folder-spellings.js';
import { readsBy } from './gathered.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { UsageCounter } from './usage-counter.js';
import { checked, eq } from './values.js';
import { Versions } from './versions.js';

type Filter = QueryFilter<EntryDocument>;

@Injectable()
export class MongoFileStore extends FileStore {
  private readonly byPlace: (place: string) => Promise<EntryDocument | null>;

  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    private readonly blobs: Blobs,
    private readonly versions: Versions,
    private readonly folders: FolderSpellings,
    private readonly usage: UsageCounter,
    private readonly writes: EntryWrites,
    @InjectModel(ENTRIES) private readonly entries: Model<EntryDocument>,
  ) {
    super();
    this.byPlace = readsBy(database, entries, 'place', ENTRY);
  }

  async insert(file: FileRecord, bytes: VersionBytes, events: readonly AuditDraft[]): Promise<boolean> {
    const { workspaceId, head } = file;
    await this.prepare(file);
    const isHeld = await this.holdBytes(workspaceId, head, bytes);
    if (!isHeld || !(await this.writes.insert(documentOf(file), [head], events))) {
      const isMade = await this.writes.isIdTaken(file);
      if (!isHeld && !isMade && (await this.isFree(file))) throw withoutBytes(head);
      return isMade;
    }
    void this.usage.count(workspaceId, head.author, { versions: 1 });
    if (file.deletedAt === null) void this.usage.count(workspaceId, file.holder, { files: 1 });
    return true;
  }

  commitVersion(
    file: FileRecord,
    expectedRevision: number,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    return this.addVersion(file, expectedRevision, file.head, bytes, events);
  }

  keepConflict(
    file: FileRecord,
    expectedRevision: number,
    version: FileVersion,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    return this.addVersion(file, expectedRevision, version, bytes, events);
  }

  async save(file: FileRecord, expectedRevision: number, events: readonly AuditDraft[]): Promise<boolean> {
    await this.prepare(file);
    if (await this.update(file, expectedRevision, null, events)) return true;
    const [event] = events;
    return event === undefined
      ? isDeepStrictEqual(await this.byId(file.workspaceId, file.id), file)
      : this.writes.isRecorded(file, event);
  }

  async insertFolder(folder: FolderRecord, events: readonly AuditDraft[]): Promise<boolean> {
    const { workspaceId, holder } = folder;
    await this.prepare({ ...folder, deletedAt: null });
    if (!(await this.writes.insert(documentOf(folder), [], events))) {
      return this.writes.isIdTaken(folder);
    }
    void this.usage.count(workspaceId, holder, { files: 1, versions: 1 });
    return true;
  }

  async removeFolder(
    folder: FolderRecord,
    deletedAt: number,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    const { workspaceId, holder } = folder;
    await this.prepare({ ...folder, deletedAt });
    const expected = { kind: eq('folder'), isLive: eq(true) };
    const { place, isLive } = locationOf({ ...folder, deletedAt });
    if ((await this.writes.update(folder, expected, { place, isLive, deletedAt }, null, events)) !== null) {
      void this.usage.count(workspaceId, holder, { files: -1 });
      await this.folders.loosen(workspaceId, folder.path, folder.docPath);
      return true;
    }
    const [event] = events;
    const removed = { _id: eq(entryId(folder)), kind: eq('folder'), deletedAt: eq(deletedAt) };
    return event === undefined
      ? (await this.findOne(removed)) !== null
      : this.writes.isRecorded(folder, event);
  }

  async at(workspaceId: string, docPath: string): Promise<Entry | null> {
    const found = await this.byPlace(livePlace(workspaceId, docPath));
    return found === null ? this.folders.at(workspaceId, docPath) : toEntry(found);
  }

  async lastDeletedAt(workspaceId: string, docPath: string): Promise<FileRecord | null> {
    const deleted = { workspaceId: eq(workspaceId), isLive: eq(false), kind: eq('file' as const) };
    const last = { deletedAt: -1, id: -1 } as const;
    return (await this.list({ ...deleted, docPath: eq(docPath) }, last, 1))[0] ?? null;
  }

  async byId(workspaceId: string, fileId: string): Promise<FileRecord | null> {
    const _id = eq(entryId({ workspaceId, id: fileId }));
    return (await this.findOne({ _id, kind: eq('file' as const) })) as FileRecord | null;
  }

  childrenOf(
    workspaceId: string,
    folderDocPath: string,
    afterPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    return this.folders.childrenOf(workspaceId, folderDocPath, afterPath, limit);
  }

  below(
    workspaceId: string,
    folderDocPath: string,
    afterDocPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    return this.folders.below(workspaceId, folderDocPath, afterDocPath, limit);
  }

  async page(
    workspaceId: string,
    { docPrefix, deleted }: FileFilter,
    after: FileCursor | null,
    limit: number,
  ): Promise<FileRecord[]> {
    const files = { workspaceId: eq(workspaceId), isLive: eq(!deleted), kind: eq('file' as const) };
    const byDocPath = { docPath: 1, id: 1 } as const;
    const end = prefixEnd(checked(docPrefix));
    const range = { $gte: docPrefix, ...(end !== null && { $lt: end }) };
    if (after === null) return this.list({ ...files, docPath: range }, byDocPath, limit);
    // Of several files deleted at one docPath, first those after the cursor.
    const sameDocPath =
      deleted && after.docPath.startsWith(docPrefix)
        ? await this.list(
            { ...files, docPath: eq(after.docPath), id: { $gt: checked(after.id) } },
            byDocPath,
            limit,
          )
        : [];
    if (sameDocPath.length === limit) return sameDocPath;
    const later = { ...files, docPath: { ...range, $gt: checked(after.docPath) } };
    return [...sameDocPath, ...(await this.list(later, byDocPath, limit - sameDocPath.length))];
  }

  versionsOf(
    workspaceId: string,
    fileId: string,
    beforeNumber: number | null,
    limit: number,
  ): Promise<FileVersion[]> {
    return this.versions.newest(workspaceId, fileId, beforeNumber, limit);
  }

  versionOf(workspaceId: string, fileId: string, versionId: string): Promise<FileVersion | null> {
    return this.versions.byId(workspaceId, fileId, versionId);
  }

  conflictOf(workspaceId: string, fileId: string, sha256: string): Promise<FileVersion | null> {
    return this.versions.firstConflict(workspaceId, fileId, sha256);
  }

  versionOfPatch(
    workspaceId: string,
    filePatchId: string,
    sha256: string,
  ): Promise<{ fileId: string; version: FileVersion } | null> {
    return this.versions.firstOfPatch(workspaceId, filePatchId, sha256);
  }

  private async addVersion(
    file: FileRecord,
    expectedRevision: number,
    version: FileVersion,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    const { workspaceId, id } = file;
    await this.prepare(file);
    const isHeld = await this.holdBytes(workspaceId, version, bytes);
    if (!isHeld || !(await this.update(file, expectedRevision, version, events))) {
      const isMade = (await this.versions.byId(workspaceId, id, version.id)) !== null;
      if (!isHeld && !isMade) {
        const now = await this.byId(workspaceId, id);
        if (now?.revision === expectedRevision && (await this.isFree(file))) throw withoutBytes(version);
      }
      return isMade;
    }
    return true;
  }

  /** Writes the file with its current location and versions, and counts the change. */
  private async update(
    file: FileRecord,
    expectedRevision: number,
    version: FileVersion | null,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    const { workspaceId, id, revision, head, lastNumber, updatedAt, holder } = file;
    const expected = { kind: eq('file'), revision: eq(expectedRevision) };
    const state = { revision, head, lastNumber, updatedAt, holder, ...locationOf(file) };
    const before = await this.writes.update(file, expected, state, version, events);
    if (before === null) return false;
    if (version !== null) void this.usage.count(workspaceId, version.author, { versions: 1 });
    const files = Number(file.deletedAt === null) - Number(before.isLive);
    if (files !== 0) void this.usage.count(workspaceId, holder, { files });
    if (before.isLive && (file.deletedAt !== null || before.path !== file.path))
      await this.folders.loosen(workspaceId, before.path, before.docPath);
    if (version !== null) await this.versions.moveFresh(workspaceId, id, before.fresh.length + 1);
    return true;
  }

  /** Stores what the entry refers to, before the entry. */
  private async prepare({
    workspaceId,
    path,
    docPath,
    deletedAt,
  }: Pick<FileRecord, 'workspaceId' | 'path' | 'docPath' | 'deletedAt'>): Promise<void> {
    await this.workspaces.require(workspaceId);
    if (deletedAt === null) await this.folders.spell(workspaceId, path, docPath);
  }

  /** False if the bytes are missing; reported only if nothing else refuses the write. */
  private holdBytes(workspaceId: string, version: FileVersion, bytes: VersionBytes): Promise<boolean> {
    const { author: userId, sha256, createdAt } = version;
    return this.blobs.hold({ workspaceId, userId }, sha256, bytes, createdAt);
  }

  /** Whether the place of a file is free, or its own. */
  private async isFree(file: FileRecord): Promise<boolean> {
    const current = await this.byPlace(locationOf(file).place);
    return current === null || current.id === file.id;
  }

  private async findOne(filter: Filter): Promise<Entry | null> {
    const found = await this.database.attempt(() => this.entries.findOne(filter, ENTRY).lean<StoredEntry>());
    return found === null ? null : toEntry(found);
  }

  private async list(
    filter: Filter,
    sort: { [field: string]: 1 | -1 },
    limit: number,
  ): Promise<FileRecord[]> {
    const found = await this.database.attempt(() =>
      this.entries.find(filter, ENTRY).sort(sort).limit(limit).lean<StoredEntry[]>(),
    );
    return found.map((entry) => toEntry(entry) as FileRecord);
  }
}

function withoutBytes({ sha256 }: FileVersion): DomainError {
  return new DomainError('CONFLICT', `The workspace does not hold the bytes of ${sha256}; send them.`);
}
