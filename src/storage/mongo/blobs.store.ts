import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model, type QueryFilter } from 'mongoose';
import { BlobStore } from '../ports/blobs.store.js';
import type { Membership } from '../ports/turn.js';
import { type BlobHead, blobId, Blobs, WITHOUT_BYTES } from './blobs.js';
import { MongoDatabase } from './database.js';
import { type BlobDocument, BLOBS } from './file-collections.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { Members } from './members.js';
import { checked, eq } from './values.js';

/** Maximum number of hashes per query, and of blobs per round. */
const HASHES = 1000;
const CONCURRENCY = 16;

@Injectable()
export class MongoBlobStore extends BlobStore {
  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    private readonly members: Members,
    private readonly bytes: Blobs,
    @InjectModel(BLOBS) private readonly blobs: Model<BlobDocument>,
  ) {
    super();
  }

  async put(who: Membership, sha256: string, bytes: Uint8Array, now: number): Promise<void> {
    await this.workspaces.require(who.workspaceId);
    await this.members.require(who);
    await this.bytes.hold(who, sha256, bytes, now);
  }

  async missing(workspaceId: string, sha256s: readonly string[]): Promise<string[]> {
    const present = new Set<string>();
    for (let at = 0; at < sha256s.length; at += HASHES) {
      const $in = sha256s.slice(at, at + HASHES).map((sha256) => blobId(workspaceId, sha256));
      const found = await this.database.attempt(() =>
        this.blobs.find({ _id: { $in } }, { sha256: 1, state: 1, markedAt: 1 }).lean(),
      );
      for (const { sha256, state, markedAt } of found) {
        if (state === 'here' && markedAt === null) present.add(sha256);
      }
    }
    return sha256s.filter((sha256) => !present.has(sha256));
  }

  read(workspaceId: string, sha256: string): Promise<Buffer | null> {
    return this.bytes.read(workspaceId, sha256);
  }

  mark(before: number, limit: number, now: number): Promise<boolean> {
    const candidates = { markedAt: eq(null), checkAt: { $lt: checked(before) } };
    return this.sweep(candidates, { checkAt: 1 }, limit, async (blob) => {
      await this.bytes.note(
        blob,
        (await this.bytes.isReferred(blob)) ? { checkAt: null } : { markedAt: now },
      );
    });
  }

  removeMarked(markedBefore: number, limit: number): Promise<boolean> {
    const marked = { markedAt: { $lt: checked(markedBefore) } };
    return this.sweep(marked, { markedAt: 1 }, limit, async (blob) => {
      if (await this.bytes.isReferred(blob)) await this.bytes.note(blob, { checkAt: null, markedAt: null });
      else await this.bytes.remove(blob);
    });
  }

  private async sweep(
    filter: QueryFilter<BlobDocument>,
    sort: { [field: string]: 1 },
    limit: number,
    check: (blob: BlobHead) => Promise<void>,
  ): Promise<boolean> {
    const found = await this.database.attempt(() =>
      this.blobs.find(filter, WITHOUT_BYTES).sort(sort).limit(limit).lean<BlobHead[]>(),
    );
    for (let at = 0; at < found.length; at += CONCURRENCY) {
      await Promise.all(found.slice(at, at + CONCURRENCY).map(check));
    }
    return found.length === limit;
  }
}
