import { Injectable } from '@nestjs/common';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore } from './record-store.js';

/** One login: the chain of refresh tokens that follow from it. Of its secrets only hashes are kept, sha256 in hex. */
export interface LoginRecord {
  id: string;
  userId: string;
  /** Of the secret that all tokens of the login have in common. */
  familyHash: string;
  /** Of the newest token. */
  tokenHash: string;
  /** Of the token before that; null while the first is the newest. */
  previousHash: string | null;
  /** What made the newest token of the one before; null while the first is the newest. */
  seed: string | null;
  /** When the newest token was made. */
  rotatedAt: number;
  expiresAt: number;
  createdAt: number;
}

/** The token that takes the place of the newest one, and what is the token before it then. */
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

/** Logins, one record each, kept until they expire or are ended. A write that is sent again changes nothing more. */
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
   * Puts a new token in the place of the one whose hash is `newestHash`; false where that is no longer the newest. The
   * same rotation again is true while its token is the newest.
   */
  async rotate(id: string, newestHash: string, next: Rotation): Promise<boolean> {
    const { tokenHash, previousHash, seed, rotatedAt, expiresAt } = next;
    const set = { tokenHash, previousHash, seed, rotatedAt, expiresAt };
    if ((await this.records.update(LOGINS, { id, tokenHash: newestHash }, set)) === 1) return true;
    return (await this.byId(id))?.tokenHash === tokenHash;
  }

  /** Those of the ids whose logins neither ended nor have expired. Its reads are gathered by the backend. */
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
