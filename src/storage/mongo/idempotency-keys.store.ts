import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { IdempotencyKeyStore, type KeyClaim } from '../ports/idempotency-keys.store.js';
import { type KeyDocument, KEYS } from './collections.js';
import { MongoDatabase } from './database.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { checked, eq, keyOf } from './values.js';

@Injectable()
export class MongoIdempotencyKeyStore extends IdempotencyKeyStore {
  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    @InjectModel(KEYS) private readonly keys: Model<KeyDocument>,
  ) {
    super();
  }

  async claim(claim: KeyClaim, since: number): Promise<KeyClaim> {
    const { workspaceId, userId, key, sessionId, turnId, claimedAt } = checked(claim);
    await this.workspaces.require(workspaceId);
    const _id = keyOf(workspaceId, userId, key);
    const expired = { _id: eq(_id), claimedAt: { $lt: checked(since) } };
    const $set = { sessionId, turnId, claimedAt };
    for (;;) {
      if (await this.database.insert(this.keys, { _id, ...claim })) return claim;
      await this.database.attempt(() => this.keys.updateOne(expired, { $set }));
      const standing = await this.find(workspaceId, userId, key, since);
      // Null where it has just been removed.
      if (standing !== null) return standing;
    }
  }

  find(workspaceId: string, userId: string, key: string, since: number): Promise<KeyClaim | null> {
    const standing = { _id: eq(keyOf(workspaceId, userId, key)), claimedAt: { $gte: checked(since) } };
    return this.database.attempt(() => this.keys.findOne(standing, { _id: 0 }).lean<KeyClaim>());
  }

  async removeExpired(before: number): Promise<void> {
    await this.database.attempt(() => this.keys.deleteMany({ claimedAt: { $lt: checked(before) } }));
  }
}
