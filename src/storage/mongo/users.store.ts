import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { type UserRecord, UserStore } from '../ports/users.store.js';
import { FIRST_USER, type FirstUserDocument, type UserDocument, USERS } from './collections.js';
import { MongoDatabase } from './database.js';
import { eq } from './values.js';

const THE_FIRST = 'first';

/**
 * Who comes first is decided by one document, which names that user whole: were the process to die before the user is
 * stored, whoever comes next does it. So nobody is stored before the user whom that document names.
 */
@Injectable()
export class MongoUserStore extends UserStore {
  private isFirstStored = false;

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(USERS) private readonly users: Model<UserDocument>,
    @InjectModel(FIRST_USER) private readonly firsts: Model<FirstUserDocument>,
  ) {
    super();
  }

  async insert(user: UserRecord): Promise<boolean> {
    if (!this.isFirstStored) await this.storeFirst(user);
    return this.store(user);
  }

  async insertFirst(user: UserRecord): Promise<boolean> {
    return (await this.storeFirst(user)) === user.id;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.database.attempt(() => this.users.findOne({}, { _id: 1 }).lean())) === null;
  }

  byId(id: string): Promise<UserRecord | null> {
    return this.findOne({ _id: eq(id) });
  }

  byEmail(email: string): Promise<UserRecord | null> {
    return this.findOne({ email: eq(email) });
  }

  async byIds(ids: string[]): Promise<UserRecord[]> {
    const found = await Promise.all([...new Set(ids)].map((id) => this.byId(id)));
    return found.filter((user) => user !== null);
  }

  /** The id of whoever came first, who is stored then: this user, where nobody did. */
  private async storeFirst({ id: userId, ...user }: UserRecord): Promise<string> {
    await this.database.insert(this.firsts, { _id: THE_FIRST, userId, ...user });
    const {
      _id,
      userId: id,
      ...first
    } = (await this.database.attempt(() => this.firsts.findOne({ _id: eq(THE_FIRST) }).lean()))!;
    if (!this.isFirstStored) await this.store({ id, ...first });
    this.isFirstStored = true;
    return id;
  }

  private async store({ id, ...user }: UserRecord): Promise<boolean> {
    if (await this.database.insert(this.users, { _id: id, ...user })) return true;
    return (await this.byId(id)) !== null;
  }

  private async findOne(
    filter: { _id: { $eq: string } } | { email: { $eq: string } },
  ): Promise<UserRecord | null> {
    const found = await this.database.attempt(() => this.users.findOne(filter).lean());
    if (found === null) return null;
    const { _id: id, ...user } = found;
    return { id, ...user };
  }
}
