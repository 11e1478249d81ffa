import type { DynamicModule } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { SqliteStorageModule } from './sqlite/sqlite.module.js';

/** The storage ports, for all modules, on the backend that the configuration chooses. */
export class StorageModule {
  static async with({ dataDir, mongodbUri }: Config): Promise<DynamicModule> {
    return { ...(await backendOf(dataDir, mongodbUri)), global: true };
  }
}

async function backendOf(dataDir: string, mongodbUri: string | null): Promise<DynamicModule> {
  if (mongodbUri === null) return SqliteStorageModule.on(dataDir);
  // Its driver is loaded by whoever needs it.
  const { MongoStorageModule } = await import('./mongo/mongo.module.js');
  return MongoStorageModule.on(mongodbUri);
}
