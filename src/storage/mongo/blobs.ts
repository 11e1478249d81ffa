import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter, type UpdateQuery } from 'mongoose';
import { newId } from '../../common/ids.js';
import type { Membership } from '../ports/turn.js';
import { MongoDatabase } from './database.js';
import { type BlobDocument, BLOBS, type EntryDocument, ENTRIES } from './file-collections.js';
import { type VersionDocument, VERSIONS } from './file-collections.js';
import { Gathered, insertsInto } from './gathered.js';
import { Parts } from './parts.js';
import { UsageCounter } from './usage-counter.js';
import { checked, eq, keyOf } from './values.js';

/** A blob up to this size is stored in the document itself: one write, one read. */
export const INLINE_BYTES = 64 * 1024;

/** The room of blob parts. */
const ROOM = 'blob';

export type BlobHead = Omit<BlobDocument, 'bytes'>;
interface Renewal {
  _id: string;
  /** When the bytes were requested, epoch ms. */
  now: number;
}

export const WITHOUT_BYTES = { bytes: 0 } as const;

export function blobId(workspaceId: string, sha256: string): string {
  return keyOf(workspaceId, sha256);
}

/**
 * Bytes by hash. Large ones are stored and removed in steps that a later call can continue after a crash: document
 * `coming`, parts, `here`; and `going`, parts removed, document removed. Parts are named by the document's
 * generation, so that a removal never deletes those of a later one.
 */
@Injectable()
export class Blobs {
  private readonly renewals = new Gathered<Renewal, BlobHead | null>((requests) => this.renewAll(requests));
  private readonly insertNew: (document: BlobDocument) => Promise<boolean>;

  constructor(
    private readonly database: MongoDatabase,
    private readonly parts: Parts,
    private readonly usage: UsageCounter,
    @InjectModel(BLOBS) private readonly blobs: Model<BlobDocument>,
    @InjectModel(ENTRIES) private readonly entries: Model<EntryDocument>,
    @InjectModel(VERSIONS) private readonly versions: Model<VersionDocument>,
  ) {
    this.insertNew = insertsInto(database, blobs);
  }

  /**
   * Keeps bytes that a version is about to reference: every sweep that read the blob before must check again. False
   * if they are neither stored nor given.
   */
  async hold(
    { workspaceId, userId }: Membership,
    sha256: string,
    bytes: Uint8Array | null,
    now: number,
  ): Promise<boolean> {
    const generation = newId();
    const isSmall = bytes !== null && bytes.length <= INLINE_BYTES;
    for (let isInserted = false; ;) {
      const known = await this.renewals.of({ _id: blobId(workspaceId, sha256), now });
      if (known === null) {
        if (bytes === null) return false;
        const isNew = await this.insert(workspaceId, userId, sha256, bytes, generation, now);
        isInserted = true;
        if (!isNew || !isSmall) continue;
        void this.usage.count(workspaceId, userId, { bytes: bytes.length });
        return true;
      } else if (known.state === 'going') {
        await this.finishRemoval(known);
      } else if (known.state === 'coming') {
        if (bytes === null) return false;
        if (await this.complete(known, bytes)) return true;
      } else {
        // Written by this call, even if the first response to the insert was lost.
        if (isInserted && known.generation === generation && known.size <= INLINE_BYTES)
          void this.usage.count(workspaceId, known.holder, { bytes: known.size });
        return true;
      }
    }
  }

  async read(workspaceId: string, sha256: string): Promise<Buffer | null> {
    const _id = eq(blobId(workspaceId, sha256));
    const found = await this.database.attempt(() =>
      this.blobs.findOne({ _id }).lean<BlobHead & { bytes: { buffer: Uint8Array } | null }>(),
    );
    if (found?.state !== 'here') return null;
    if (found.bytes !== null) return Buffer.from(found.bytes.buffer);
    return this.parts.read(ownerOf(found), found.size);
  }

  /** Whether a version references the bytes. Checks fresh versions first, since they move to the collection. */
  async isReferred({ workspaceId, sha256 }: BlobHead): Promise<boolean> {
    const ofWorkspace = { workspaceId: eq(workspaceId) };
    const fresh = { ...ofWorkspace, 'fresh.sha256': eq(sha256) };
    const inCollection = { ...ofWorkspace, sha256: eq(sha256) };
    return (
      (await this.database.attempt(() => this.entries.findOne(fresh, { _id: 1 }).lean())) !== null ||
      (await this.database.attempt(() => this.versions.findOne(inCollection, { _id: 1 }).lean())) !== null
    );
  }

  /** Updates what a sweep knows of a blob, unless the blob was requested since it was read. */
  async note(blob: BlobHead, $set: Partial<Pick<BlobDocument, 'checkAt' | 'markedAt'>>): Promise<void> {
    await this.database.attempt(() => this.blobs.updateOne(unchanged(blob), { $set: checked($set) }));
  }

  /** Removes a blob, unless it was requested since it was read. */
  async remove(blob: BlobHead): Promise<void> {
    if (blob.state !== 'going') {
      const update = { $set: { state: 'going' as const }, $inc: { revision: 1 } };
      const { isMade, attempts } = await this.changed(unchanged(blob), update);
      if (isMade) {
        if (blob.state === 'here')
          void this.usage.count(blob.workspaceId, blob.holder, { bytes: -blob.size });
        // A missing match may be this very write, whose response was lost.
      } else if (attempts === 1 || (await this.stateOf(blob)) !== 'going') return;
    }
    await this.finishRemoval(blob);
  }

  /**
   * Removes parts whose blob does not exist in their generation: its document is written first, so it was removed,
   * and the writer crashed. Checks up to `limit` blobs after `after`; returns the last, null at the end.
   */
  async removeOrphanParts(after: string, limit: number): Promise<string | null> {
    const { orphans, last } = await this.orphanParts(after, limit);
    for (const owner of orphans) await this.parts.remove(owner);
    return last;
  }

  /** The owners of such parts, among up to `limit` owners after `after`, and the last one checked; null at the end. */
  async orphanParts(after: string, limit: number): Promise<{ orphans: string[]; last: string | null }> {
    const owners = await this.parts.owners(ROOM, after, limit);
    const ids = owners.map((owner) => (JSON.parse(owner) as string[])[1]!);
    const blobs = await this.database.attempt(() =>
      this.blobs
        .find({ _id: { $in: ids } }, { generation: 1 })
        .lean<Pick<BlobDocument, '_id' | 'generation'>[]>(),
    );
    const there = new Set(blobs.map(ownerOf));
    const orphans = owners.filter((owner) => !there.has(owner));
    return { orphans, last: owners.length === limit ? owners.at(-1)! : null };
  }

  private async insert(
    workspaceId: string,
    holder: string,
    sha256: string,
    bytes: Uint8Array,
    generation: string,
    now: number,
  ): Promise<boolean> {
    const isSmall = bytes.length <= INLINE_BYTES;
    return this.insertNew({
      ...{ _id: blobId(workspaceId, sha256), workspaceId, sha256, size: bytes.length, holder, generation },
      ...{ state: isSmall ? 'here' : 'coming', checkAt: now, markedAt: null, revision: 1 },
      bytes: isSmall ? Buffer.from(bytes) : null,
    });
  }

  /**
   * Removes the marks and increments the revision, which invalidates every earlier read of a sweep. Afterwards a blob
   * stays as read here, unless it is coming or going.
   */
  private async renewAll(requests: readonly Renewal[]): Promise<(BlobHead | null)[]> {
    const now = Math.max(...requests.map((request) => request.now));
    const update = { $set: { markedAt: null }, $max: { checkAt: checked(now) }, $inc: { revision: 1 } };
    const filter = { _id: { $in: [...new Set(requests.map(({ _id }) => _id))] } };
    const { matchedCount } = await this.database.attempt(() => this.blobs.updateMany(filter, update));
    if (matchedCount === 0) return requests.map(() => null);
    const found = await this.database.attempt(() =>
      this.blobs.find(filter, WITHOUT_BYTES).lean<BlobHead[]>(),
    );
    const byId = new Map(found.map((blob) => [blob._id, blob]));
    return requests.map(({ _id }) => byId.get(_id) ?? null);
  }

  /** Stores the parts of a coming blob; false if it was removed meanwhile. */
  private async complete(blob: BlobHead, bytes: Uint8Array): Promise<boolean> {
    await this.parts.put(ownerOf(blob), bytes);
    const coming = { _id: eq(blob._id), generation: eq(blob.generation), state: eq('coming') };
    const $set = { state: 'here' as const };
    const { isMade } = await this.changed(coming, { $set });
    if (isMade) {
      void this.usage.count(blob.workspaceId, blob.holder, { bytes: blob.size });
      return true;
    }
    const state = await this.stateOf(blob);
    if (state === null) await this.parts.remove(ownerOf(blob));
    return state === 'here';
  }

  /** Whether the filter matched a blob, and the number of attempts. */
  private async changed(
    filter: QueryFilter<BlobDocument>,
    update: UpdateQuery<BlobDocument>,
  ): Promise<{ isMade: boolean; attempts: number }> {
    let attempts = 0;
    const { matchedCount } = await this.database.attempt(() => {
      attempts += 1;
      return this.blobs.updateOne(filter, update);
    });
    return { isMade: matchedCount === 1, attempts };
  }

  /** The current document of the blob; null if this generation was removed. */
  private async stateOf({ _id, generation }: BlobHead): Promise<BlobDocument['state'] | null> {
    const now = await this.database.attempt(() =>
      this.blobs.findOne({ _id: eq(_id) }, WITHOUT_BYTES).lean<BlobHead>(),
    );
    return now?.generation === generation ? now.state : null;
  }

  private async finishRemoval(blob: BlobHead): Promise<void> {
    if (blob.size > INLINE_BYTES) await this.parts.remove(ownerOf(blob));
    const going = { _id: eq(blob._id), generation: eq(blob.generation), state: eq('going') };
    await this.database.attempt(() => this.blobs.deleteOne(going));
  }
}

function unchanged({ _id, revision }: BlobHead) {
  return { _id: eq(_id), revision: eq(revision) };
}

/** The owner name of the blob's parts. */
export function ownerOf({ _id, generation }: Pick<BlobDocument, '_id' | 'generation'>): string {
  return keyOf(ROOM, _id, generation);
}
