import { Injectable } from '@nestjs/common';
import type { TurnRef } from '../ports/turn.js';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore, untilDone } from './record-store.js';

/** An Idempotency-Key of a user in a workspace, and the turn that it names. */
export interface KeyClaim extends TurnRef {
  userId: string;
  key: string;
  /** Epoch ms. */
  claimedAt: number;
}

export const KEYS: RecordDeclaration<KeyClaim, 'workspaceId' | 'userId' | 'key'> = {
  name: 'idempotency_keys',
  fields: {
    ...{ workspaceId: 'text', userId: 'text', key: 'text' },
    ...{ sessionId: 'text', turnId: 'text', claimedAt: 'integer' },
  },
  key: ['workspaceId', 'userId', 'key'],
  indexes: [['claimedAt']],
};

/**
 * The turn of each Idempotency-Key, stored before the turn. If the process dies in between, the next request with the
 * key creates the turn under that name.
 */
@Injectable()
export class IdempotencyKeyStore {
  static readonly declarations = [KEYS];

  constructor(private readonly records: RecordStore) {}

  /** Claims the key for a turn, unless claimed since `since` (epoch ms). Returns the valid claim. Idempotent. */
  claim(claim: KeyClaim, since: number): Promise<KeyClaim> {
    const { workspaceId, userId, key, sessionId, turnId, claimedAt } = claim;
    return untilDone(async () => {
      if ((await this.records.insert(KEYS, claim)) === 'inserted') return claim;
      const known = await this.records.byKey(KEYS, claim);
      // Null if it was just removed.
      if (known === null) return undefined;
      if (known.claimedAt >= since) return known;
      const expired = { workspaceId, userId, key, turnId: known.turnId, claimedAt: known.claimedAt };
      await this.records.update(KEYS, expired, { sessionId, turnId, claimedAt });
      return undefined;
    });
  }

  /** The claim of this key since `since`. */
  async find(workspaceId: string, userId: string, key: string, since: number): Promise<KeyClaim | null> {
    const known = await this.records.byKey(KEYS, { workspaceId, userId, key });
    return known !== null && known.claimedAt >= since ? known : null;
  }

  /** Removes claims from before `before`, including those without a turn. */
  removeExpired(before: number): Promise<void> {
    return this.records.remove(KEYS, { claimedAt: { below: before } });
  }
}
