import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { StorageHealth } from '../ports/storage-health.js';
import { type CheckDocument, CHECKS } from './collections.js';
import { MongoDatabase } from './database.js';
import { eq } from './values.js';

const THE_CHECK = 'health';

@Injectable()
export class MongoHealth extends StorageHealth {
  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(CHECKS) private readonly checks: Model<CheckDocument>,
  ) {
    super();
  }

  async check(): Promise<void> {
    // Nobody reads this time; only the majority acknowledgement counts.
    const $set = { at: Date.now() };
    await this.database.insert(this.checks, { _id: THE_CHECK, ...$set });
    await this.database.attempt(() => this.checks.updateOne({ _id: eq(THE_CHECK) }, { $set }));
  }
}
