import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { type LoginRecord, LoginStore, type Rotation } from '../ports/logins.store.js';
import { type LoginDocument, LOGINS } from './collections.js';
import { MongoDatabase } from './database.js';
import { checked, eq } from './values.js';

@Injectable()
export class MongoLoginStore extends LoginStore {
  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(LOGINS) private readonly logins: Model<LoginDocument>,
  ) {
    super();
  }

  async insert({ id, ...login }: LoginRecord): Promise<void> {
    await this.database.insert(this.logins, { _id: id, ...login });
  }

  async byId(id: string): Promise<LoginRecord | null> {
    const found = await this.database.attempt(() => this.logins.findOne({ _id: eq(id) }).lean());
    if (found === null) return null;
    const { _id, ...login } = found;
    return { id: _id, ...login };
  }

  async rotate(id: string, newestHash: string, next: Rotation): Promise<boolean> {
    const { tokenHash, previousHash, seed, rotatedAt, expiresAt } = checked(next);
    const $set = { tokenHash, previousHash, seed, rotatedAt, expiresAt };
    const newest = { _id: eq(id), tokenHash: eq(newestHash) };
    const { matchedCount } = await this.database.attempt(() => this.logins.updateOne(newest, { $set }));
    if (matchedCount === 1) return true;
    const same = { _id: eq(id), tokenHash: eq(tokenHash) };
    return (await this.database.attempt(() => this.logins.findOne(same, { _id: 1 }).lean())) !== null;
  }

  async remove(id: string): Promise<void> {
    await this.database.attempt(() => this.logins.deleteOne({ _id: eq(id) }));
  }

  async removeExpired(before: number): Promise<void> {
    await this.database.attempt(() => this.logins.deleteMany({ expiresAt: { $lt: checked(before) } }));
  }
}
