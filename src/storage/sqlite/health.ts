import { Injectable } from '@nestjs/common';
import { StorageHealth } from '../ports/storage-health.js';
import { SqliteDatabase } from './database.js';

@Injectable()
export class SqliteHealth extends StorageHealth {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  async check(): Promise<void> {
    this.database.get('SELECT version FROM schema_migrations LIMIT 1');
  }
}
