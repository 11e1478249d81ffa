import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { ToolContract } from '@patchbay/protocol';
import { Model } from 'mongoose';
import { ContractStore } from '../ports/contracts.store.js';
import { type ContractDocument, CONTRACTS } from './collections.js';
import { MongoDatabase } from './database.js';
import { eq } from './values.js';

@Injectable()
export class MongoContractStore extends ContractStore {
  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(CONTRACTS) private readonly contracts: Model<ContractDocument>,
  ) {
    super();
  }

  async put(digest: string, contract: ToolContract): Promise<void> {
    await this.database.insert(this.contracts, { _id: digest, contract: JSON.stringify(contract) });
  }

  async byDigest(digest: string): Promise<ToolContract | null> {
    const found = await this.database.attempt(() => this.contracts.findOne({ _id: eq(digest) }).lean());
    return found === null ? null : (JSON.parse(found.contract) as ToolContract);
  }
}
