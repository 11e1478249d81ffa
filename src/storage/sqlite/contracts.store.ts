import { Injectable } from '@nestjs/common';
import type { ToolContract } from '@patchbay/protocol';
import { ContractStore } from '../ports/contracts.store.js';
import { hashBytes } from './blobs.js';
import { SqliteDatabase } from './database.js';

@Injectable()
export class SqliteContractStore extends ContractStore {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  async put(digest: string, contract: ToolContract): Promise<void> {
    await this.database.write(() =>
      this.database.run('INSERT INTO contracts (digest, contract) VALUES (?, ?) ON CONFLICT DO NOTHING', [
        hashBytes(digest),
        JSON.stringify(contract),
      ]),
    );
  }

  async byDigest(digest: string): Promise<ToolContract | null> {
    const row = this.database.get<[string]>('SELECT contract FROM contracts WHERE digest = ?', [
      hashBytes(digest),
    ]);
    return row === null ? null : (JSON.parse(row[0]) as ToolContract);
  }
}
