import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter } from 'mongoose';
import type { FileVersion } from '../ports/files.store.js';
import { MongoDatabase } from './database.js';
import { type EntryDocument, ENTRIES, type VersionDocument, VERSIONS } from './file-collections.js';
import { checked, eq, keyOf } from './values.js';

/** Number of versions that stay in the file's document before they move to their collection. */
const FRESH = 32;

interface Fresh {
  id: string;
  fresh: FileVersion[];
}

export function versionId(workspaceId: string, fileId: string, number: number): string {
  return keyOf(workspaceId, fileId, String(number));
}

/**
 * Versions of files. A new one is written in its file's document; several at a time are copied to their collection,
 * then removed from the document. Every read checks the document first: versions no longer there are in the collection.
 */
@Injectable()
export class Versions {
  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(ENTRIES) private readonly entries: Model<EntryDocument>,
    @InjectModel(VERSIONS) private readonly versions: Model<VersionDocument>,
  ) {}

  /** Up to `limit` versions, newest first, older than the given number. */
  async newest(
    workspaceId: string,
    fileId: string,
    before: number | null,
    limit: number,
  ): Promise<FileVersion[]> {
    const older = checked(before) ?? Number.MAX_SAFE_INTEGER;
    const fresh = await this.freshOf(workspaceId, fileId);
    const stored = await this.findStored(
      { workspaceId: eq(workspaceId), fileId: eq(fileId), number: { $lt: older } },
      { number: -1 },
      limit,
    );
    return merge([...fresh.filter(({ number }) => number < older), ...stored])
      .reverse()
      .slice(0, limit);
  }

  async byId(workspaceId: string, fileId: string, id: string): Promise<FileVersion | null> {
    const fresh = (await this.freshOf(workspaceId, fileId)).find((version) => version.id === id);
    if (fresh !== undefined) return fresh;
    const filter = { workspaceId: eq(workspaceId), fileId: eq(fileId), id: eq(id) };
    return (await this.findStored(filter, { id: 1 }, 1))[0] ?? null;
  }

  async firstConflict(workspaceId: string, fileId: string, sha256: string): Promise<FileVersion | null> {
    const fresh = await this.freshOf(workspaceId, fileId);
    const filter = { workspaceId: eq(workspaceId), sha256: eq(sha256), fileId: eq(fileId) };
    const stored = await this.findStored({ ...filter, conflict: eq(true) }, { number: 1 }, 1);
    const conflicts = fresh.filter((version) => version.conflict && version.sha256 === sha256);
    return merge([...conflicts, ...stored])[0] ?? null;
  }

  /** The first version uploaded for the file patch, with its file. */
  async firstOfPatch(
    workspaceId: string,
    filePatchId: string,
    sha256: string,
  ): Promise<{ fileId: string; version: FileVersion } | null> {
    const isOne = (version: FileVersion) => version.filePatchId === filePatchId && version.sha256 === sha256;
    const withFresh = { workspaceId: eq(workspaceId), 'fresh.filePatchId': eq(filePatchId) };
    const entries = await this.database.attempt(() =>
      this.entries.find(withFresh, { id: 1, fresh: 1 }).lean<Fresh[]>(),
    );
    const fresh = entries.flatMap(({ id, fresh: versions }) =>
      versions.filter(isOne).map((version) => ({ fileId: id, version })),
    );
    const ofPatch = { workspaceId: eq(workspaceId), filePatchId: eq(filePatchId), sha256: eq(sha256) };
    const stored = await this.database.attempt(() =>
      this.versions.find(ofPatch).sort({ number: 1 }).limit(1).lean(),
    );
    const found = [
      ...stored.map((document) => ({ fileId: document.fileId, version: toVersion(document) })),
      ...fresh,
    ];
    return found.sort((one, other) => one.version.number - other.version.number)[0] ?? null;
  }

  /** Call after a write to a file with this many fresh versions. After a failure the next write tries again. */
  async moveFresh(workspaceId: string, fileId: string, count: number): Promise<void> {
    if (count < FRESH) return;
    const fresh = await this.freshOf(workspaceId, fileId);
    if (fresh.length === 0) return;
    const documents = fresh.map((version) => {
      return { _id: versionId(workspaceId, fileId, version.number), workspaceId, fileId, ...version };
    });
    await this.database.insertNew(this.versions, documents);
    const last = Math.max(...fresh.map(({ number }) => number));
    const _id = eq(keyOf(workspaceId, fileId));
    const $pull = { fresh: { number: { $lte: last } } };
    await this.database.attempt(() => this.entries.updateOne({ _id }, { $pull }));
  }

  private async freshOf(workspaceId: string, fileId: string): Promise<FileVersion[]> {
    const _id = eq(keyOf(workspaceId, fileId));
    const found = await this.database.attempt(() =>
      this.entries.findOne({ _id }, { fresh: 1 }).lean<Fresh>(),
    );
    return found?.fresh ?? [];
  }

  private async findStored(
    filter: QueryFilter<VersionDocument>,
    sort: { [field: string]: 1 | -1 },
    limit: number,
  ): Promise<FileVersion[]> {
    const found = await this.database.attempt(() =>
      this.versions.find(filter).sort(sort).limit(limit).lean(),
    );
    return found.map(toVersion);
  }
}

function toVersion({
  _id,
  workspaceId: _workspaceId,
  fileId: _fileId,
  ...version
}: VersionDocument): FileVersion {
  return version;
}

/** Deduplicates by number, oldest first. */
function merge(versions: readonly FileVersion[]): FileVersion[] {
  const byNumber = new Map(versions.map((version) => [version.number, version]));
  return [...byNumber.values()].sort((one, other) => one.number - other.number);
}
