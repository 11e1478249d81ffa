import { Injectable } from '@nestjs/common';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore } from './record-store.js';

/** One login: the chain of its refresh tokens. Secrets are stored only as hashes, sha256 in hex. */
export interface LoginRecord {
  id: string;
  userId: string;
  /** Hash of the secret that all tokens of the login share. */
  familyHash: string;
  /** Hash of the newest token. */
  tokenHash: string;
  /** Hash of the token before that; null while the first is the newest. */
  previousHash: string | null;
  /** The seed that derived the newest token from the previous one; null while the first is the newest. */
  seed: string | null;
  /** When the newest token was created. */
  rotatedAt: number;
  expiresAt: number;
  createdAt: number;
}

/** The next token, and the previous one after the rotation. */
export type Rotation = Pick<LoginRecord, 'tokenHash' | 'previousHash' | 'seed' | 'rotatedAt' | 'expiresAt'>;

export const LOGINS: RecordDeclaration<LoginRecord, 'id'> = {
  name: 'logins',
  fields: {
    ...{ id: 'text', userId: 'text', familyHash: 'text', tokenHash: 'text', previousHash: 'text?' },
    ...{ seed: 'text?', rotatedAt: 'integer', expiresAt: 'integer', createdAt: 'integer' },
  },
  key: ['id'],
  indexes: [['expiresAt']],
};

/** Logins, one record each, kept until they expire or end. Writes are idempotent. */
@Injectable()
export class LoginStore {
  static readonly declarations = [LOGINS];

  constructor(private readonly records: RecordStore) {}

  async insert(login: LoginRecord): Promise<void> {
    await this.records.insert(LOGINS, login);
  }

  byId(id: string): Promise<LoginRecord | null> {
    return this.records.byKey(LOGINS, { id });
  }

  /**
   * Replaces the newest token, of hash `newestHash`; false if that is no longer the newest. A repeated rotation
   * returns true while its token is the newest.
   */
  async rotate(id: string, newestHash: string, next: Rotation): Promise<boolean> {
    const { tokenHash, previousHash, seed, rotatedAt, expiresAt } = next;
    const set = { tokenHash, previousHash, seed, rotatedAt, expiresAt };
    if ((await this.records.update(LOGINS, { id, tokenHash: newestHash }, set)) === 1) return true;
    return (await this.byId(id))?.tokenHash === tokenHash;
  }

  /** Those of the ids whose logins have neither ended nor expired. The backend batches these reads. */
  async liveAmong(ids: readonly string[], now: number): Promise<Set<string>> {
    const found = await Promise.all(ids.map((id) => this.byId(id)));
    return new Set(found.flatMap((login) => (login !== null && login.expiresAt > now ? [login.id] : [])));
  }

  remove(id: string): Promise<void> {
    return this.records.remove(LOGINS, { id });
  }

  removeExpired(before: number): Promise<void> {
    return this.records.remove(LOGINS, { expiresAt: { below: before } });
  }
}
