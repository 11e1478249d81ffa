import { Injectable } from '@nestjs/common';
import type { ToolContract } from '@patchbay/protocol';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore } from './record-store.js';

export interface ContractRecord {
  digest: string;
  contract: ToolContract;
}

export const CONTRACTS: RecordDeclaration<ContractRecord, 'digest'> = {
  name: 'contracts',
  fields: { digest: 'text', contract: 'json' },
  key: ['digest'],
};

/**
 * Tool contracts by digest, immutable and stored before any turn that refers to them. Results are checked against
 * them even if the tool has changed or disappeared since.
 */
@Injectable()
export class ContractStore {
  static readonly declarations = [CONTRACTS];

  constructor(private readonly records: RecordStore) {}

  /** Stores a contract, unless it exists. */
  async put(digest: string, contract: ToolContract): Promise<void> {
    await this.records.insert(CONTRACTS, { digest, contract });
  }

  async byDigest(digest: string): Promise<ToolContract | null> {
    return (await this.records.byKey(CONTRACTS, { digest }))?.contract ?? null;
  }
}
