import type { DynamicModule } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { SqliteStorageModule } from './sqlite/sqlite.module.js';

/** Provides the storage ports to all modules, on the configured backend. */
export class StorageModule {
  static async with({ dataDir, mongodbUri }: Config): Promise<DynamicModule> {
    return { ...(await backendOf(dataDir, mongodbUri)), global: true };
  }
}

async function backendOf(dataDir: string, mongodbUri: string | null): Promise<DynamicModule> {
  if (mongodbUri === null) return SqliteStorageModule.on(dataDir);
  // The driver is loaded only if needed.
  const { MongoStorageModule } = await import('./mongo/mongo.module.js');
  return MongoStorageModule.on(mongodbUri);
}
