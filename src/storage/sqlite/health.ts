import { Injectable } from '@nestjs/common';
import { statfs } from 'node:fs/promises';
import { StorageHealth } from '../ports/storage-health.js';
import { SqliteDatabase } from './database.js';
import { SCHEMA_VERSION } from './schema.js';

/** With less than this a disk counts as full: a write that is small enough may still find a place in the log. */
const LEAST_FREE_BYTES = 1024 * 1024;

@Injectable()
export class SqliteHealth extends StorageHealth {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  async check(): Promise<void> {
    const { directory } = this.database;
    const { bavail, bsize, blocks } = await statfs(directory);
    // Some file systems do not say how large they are.
    if (blocks > 0 && bavail * bsize < LEAST_FREE_BYTES)
      throw new Error(`The disk of ${directory} is full: ${bavail * bsize} bytes are free`);
    // Writes the number that is there already: the page goes to the disk all the same.
    await this.database.write(() => this.database.run(`PRAGMA user_version = ${SCHEMA_VERSION}`));
  }
}
