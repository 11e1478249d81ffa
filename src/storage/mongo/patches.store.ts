import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter } from 'mongoose';
import { type PatchBatchRecord, PatchStore } from '../ports/patches.store.js';
import { MongoDatabase } from './database.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { Parts } from './parts.js';
import { PATCH_IDS, type PatchDocument, PATCHES, type PatchIdsDocument } from './patch-collections.js';
import { type TurnDocument, TURNS } from './turn-collections.js';
import { checked, eq, keyOf } from './values.js';

/** A larger batch is spread over several documents. */
const INLINE_BYTES = 512 * 1024;
/** About 90 KB of ids. */
const IDS_OF_DOCUMENT = 2_000;

type Written = Pick<PatchDocument, '_id' | 'record' | 'recordBytes'>;

/**
 * A small batch is one document. A large one starts with its document, marked as not whole; then come the other
 * documents; then it is marked whole. After a crash the sweep finds the remains by that document.
 */
@Injectable()
export class MongoPatchStore extends PatchStore {
  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    private readonly parts: Parts,
    @InjectModel(PATCHES) private readonly patches: Model<PatchDocument>,
    @InjectModel(PATCH_IDS) private readonly patchIds: Model<PatchIdsDocument>,
    @InjectModel(TURNS) private readonly turns: Model<TurnDocument>,
  ) {
    super();
  }

  async insert(batch: PatchBatchRecord): Promise<void> {
    const { workspaceId, batchId, sessionId, turnId, createdAt } = batch;
    await this.workspaces.require(workspaceId);
    const _id = keyOf(workspaceId, batchId);
    const record = JSON.stringify(batch);
    const docPaths = JSON.stringify(batch.batch.files.map(({ docPath }) => docPath));
    const ids = batch.batch.files.flatMap(({ filePatchId, changes }) => [
      filePatchId!,
      ...changes.map(({ changeId }) => changeId!),
    ]);
    const [recordBytes, docPathsBytes] = [Buffer.byteLength(record), Buffer.byteLength(docPaths)];
    const whole = recordBytes <= INLINE_BYTES;
    await this.database.insert(this.patches, {
      ...{ _id, workspaceId, sessionId, turnId, createdAt, loose: true, whole, recordBytes, docPathsBytes },
      ...(whole ? { record, docPaths, ids } : { record: null, docPaths: null, ids: [] }),
    });
    if (!whole) await this.spread(_id, record, docPaths, ids);
  }

  async byId(workspaceId: string, batchId: string): Promise<PatchBatchRecord | null> {
    return this.read({ _id: eq(keyOf(workspaceId, batchId)) });
  }

  async docPathsOf(workspaceId: string, batchId: string): Promise<string[]> {
    const _id = keyOf(workspaceId, batchId);
    const found = await this.database.attempt(() =>
      this.patches
        .findOne({ _id: eq(_id), whole: eq(true) }, { docPaths: 1, docPathsBytes: 1 })
        .lean<Pick<PatchDocument, 'docPaths' | 'docPathsBytes'>>(),
    );
    if (found === null) return [];
    const text = found.docPaths ?? (await this.parts.read(pathsOf(_id), found.docPathsBytes))?.toString();
    return text === undefined ? [] : (JSON.parse(text) as string[]);
  }

  async ofFilePatch(workspaceId: string, filePatchId: string): Promise<PatchBatchRecord | null> {
    const record = await this.ofPart(workspaceId, filePatchId);
    return record?.batch.files.some((file) => file.filePatchId === filePatchId) ? record : null;
  }

  async ofChange(workspaceId: string, changeId: string): Promise<PatchBatchRecord | null> {
    const record = await this.ofPart(workspaceId, changeId);
    return record?.batch.files.some((file) => file.filePatchId === changeId) ? null : record;
  }

  async remove(workspaceId: string, batchId: string): Promise<void> {
    await this.workspaces.require(workspaceId);
    await this.drop(keyOf(workspaceId, batchId));
  }

  async removeOrphans(before: number, limit: number): Promise<boolean> {
    const old = { loose: eq(true), createdAt: { $lt: checked(before) } };
    const loose = await this.database.attempt(() =>
      this.patches
        .find(old, { workspaceId: 1, sessionId: 1, turnId: 1 })
        .sort({ createdAt: 1 })
        .limit(limit)
        .lean<Pick<PatchDocument, '_id' | 'workspaceId' | 'sessionId' | 'turnId'>[]>(),
    );
    if (loose.length === 0) return false;
    const turnOf = new Map(
      loose.map(({ _id, workspaceId, sessionId, turnId }) => [_id, keyOf(workspaceId, sessionId, turnId)]),
    );
    const stored = await this.database.attempt(() =>
      this.turns.find({ _id: { $in: [...turnOf.values()] } }, { _id: 1 }).lean<{ _id: string }[]>(),
    );
    const turns = new Set(stored.map(({ _id }) => _id));
    const kept = [...turnOf].filter(([, turn]) => turns.has(turn)).map(([_id]) => _id);
    await this.database.attempt(() =>
      this.patches.updateMany({ _id: { $in: kept } }, { $set: { loose: false } }),
    );
    for (const [_id, turn] of turnOf) if (!turns.has(turn)) await this.drop(_id);
    return loose.length === limit;
  }

  /** Stores everything that is not in the document of the batch. */
  private async spread(_id: string, record: string, docPaths: string, ids: string[]): Promise<void> {
    await this.parts.put(recordOf(_id), Buffer.from(record));
    await this.parts.put(pathsOf(_id), Buffer.from(docPaths));
    for (let at = 0; at < ids.length; at += IDS_OF_DOCUMENT) {
      const some = { _id: keyOf(_id, String(at)), batch: _id, ids: ids.slice(at, at + IDS_OF_DOCUMENT) };
      await this.database.insert(this.patchIds, some);
    }
    const unfinished = { _id: eq(_id), whole: eq(false) };
    await this.database.attempt(() => this.patches.updateOne(unfinished, { $set: { whole: true } }));
  }

  /** Deletes the document last: the sweep finds the others by it. */
  private async drop(_id: string): Promise<void> {
    await this.database.attempt(() => this.patchIds.deleteMany({ batch: eq(_id) }));
    for (const owner of [recordOf(_id), pathsOf(_id)]) await this.parts.remove(owner);
    await this.database.attempt(() => this.patches.deleteOne({ _id: eq(_id) }));
  }

  private async ofPart(workspaceId: string, partId: string): Promise<PatchBatchRecord | null> {
    const ofWorkspace = { workspaceId: eq(workspaceId) };
    const small = await this.read({ ids: eq(partId), ...ofWorkspace });
    if (small !== null) return small;
    const large = await this.database.attempt(() =>
      this.patchIds.findOne({ ids: eq(partId) }, { batch: 1 }).lean<Pick<PatchIdsDocument, 'batch'>>(),
    );
    return large === null ? null : this.read({ _id: eq(large.batch), ...ofWorkspace });
  }

  private async read(filter: QueryFilter<PatchDocument>): Promise<PatchBatchRecord | null> {
    const whole = { ...filter, whole: eq(true) };
    const found = await this.database.attempt(() =>
      this.patches.findOne(whole, { record: 1, recordBytes: 1 }).lean<Written>(),
    );
    if (found === null) return null;
    const text = found.record ?? (await this.parts.read(recordOf(found._id), found.recordBytes))?.toString();
    return text === undefined ? null : (JSON.parse(text) as PatchBatchRecord);
  }
}

function recordOf(_id: string): string {
  return keyOf('patch record', _id);
}

function pathsOf(_id: string): string {
  return keyOf('patch paths', _id);
}
