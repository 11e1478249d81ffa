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

/** The one record of its kind: the user who registered before everybody else. */
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
 * Accounts. One record decides who is the first user, and holds that user whole: if the process dies before the user is
 * stored, the next registration stores it. So nobody is stored before that user.
 */
@Injectable()
export class UserStore {
  static readonly declarations = [USERS, FIRST_USER];

  private isFirstStored = false;

  constructor(private readonly records: RecordStore) {}

  /** False where the email is another's; nothing is stored then. The same user again is true. */
  async insert(user: UserRecord): Promise<boolean> {
    if (!this.isFirstStored) await this.storeFirst(user);
    return (await this.records.insert(USERS, user)) !== 'taken';
  }

  /** Stores the user where nobody is stored yet, of any email; of several at once one is. The same user again is true. */
  async insertFirst(user: UserRecord): Promise<boolean> {
    return (await this.storeFirst(user)) === user.id;
  }

  /** Whether nobody is stored. */
  async isEmpty(): Promise<boolean> {
    return (await this.records.byKey(FIRST_USER, FIRST)) === null;
  }

  byId(id: string): Promise<UserRecord | null> {
    return this.records.byKey(USERS, { id });
  }

  async byEmail(email: string): Promise<UserRecord | null> {
    return (await this.records.find(USERS, { email }, { by: ['email'], limit: 1 }))[0] ?? null;
  }

  /** Those of the ids that exist, in no particular order. */
  async byIds(ids: string[]): Promise<UserRecord[]> {
    const found = await Promise.all([...new Set(ids)].map((id) => this.byId(id)));
    return found.filter((user) => user !== null);
  }

  /** The id of the first user, who is stored then: this user, where nobody was. */
  private async storeFirst(user: UserRecord): Promise<string> {
    await this.records.insert(FIRST_USER, { ...FIRST, ...user });
    const { slot: _slot, ...first } = (await this.records.byKey(FIRST_USER, FIRST))!;
    if (!this.isFirstStored) await this.records.insert(USERS, first);
    this.isFirstStored = true;
    return first.id;
  }
}
