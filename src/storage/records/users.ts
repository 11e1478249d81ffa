import { Injectable } from '@nestjs/common';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore } from './record-store.js';

export interface UserRecord {
  id: string;
  /** Lowercase, unique. */
  email: string;
  fullName: string | null;
  passwordHash: string;
  createdAt: number;
}

/** The only record of its kind: the user who registered first. */
export interface FirstUserRecord extends UserRecord {
  slot: string;
}

export const USERS: RecordDeclaration<UserRecord, 'id'> = {
  name: 'users',
  fields: { id: 'text', email: 'text', fullName: 'text?', passwordHash: 'text', createdAt: 'integer' },
  key: ['id'],
  unique: [['email']],
};

export const FIRST_USER: RecordDeclaration<FirstUserRecord, 'slot'> = {
  name: 'first_user',
  fields: { slot: 'text', ...USERS.fields },
  key: ['slot'],
};

const FIRST = { slot: 'first' };

/**
 * Accounts. One record decides who is the first user, and contains that user: if the process dies before the user is
 * stored, the next registration stores it. Nobody else is stored before that.
 */
@Injectable()
export class UserStore {
  static readonly declarations = [USERS, FIRST_USER];

  private isFirstStored = false;

  constructor(private readonly records: RecordStore) {}

  /** False if the email belongs to another user; nothing is stored then. Idempotent. */
  async insert(user: UserRecord): Promise<boolean> {
    if (!this.isFirstStored) await this.storeFirst(user);
    return (await this.records.insert(USERS, user)) !== 'taken';
  }

  /** Stores the user if there is no user yet; of several concurrent calls one succeeds. Idempotent. */
  async insertFirst(user: UserRecord): Promise<boolean> {
    return (await this.storeFirst(user)) === user.id;
  }

  /** Whether there is no user. */
  async isEmpty(): Promise<boolean> {
    return (await this.records.byKey(FIRST_USER, FIRST)) === null;
  }

  byId(id: string): Promise<UserRecord | null> {
    return this.records.byKey(USERS, { id });
  }

  async byEmail(email: string): Promise<UserRecord | null> {
    return (await this.records.find(USERS, { email }, { by: ['email'], limit: 1 }))[0] ?? null;
  }

  /** Those of the ids that exist, unordered. */
  async byIds(ids: string[]): Promise<UserRecord[]> {
    const found = await Promise.all([...new Set(ids)].map((id) => this.byId(id)));
    return found.filter((user) => user !== null);
  }

  /** Ensures that the first user is stored, this one if there was none; returns their id. */
  private async storeFirst(user: UserRecord): Promise<string> {
    await this.records.insert(FIRST_USER, { ...FIRST, ...user });
    const { slot: _slot, ...first } = (await this.records.byKey(FIRST_USER, FIRST))!;
    if (!this.isFirstStored) await this.records.insert(USERS, first);
    this.isFirstStored = true;
    return first.id;
  }
}
