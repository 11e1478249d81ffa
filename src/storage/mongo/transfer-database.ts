import type { Connection } from 'mongoose';
import { TransferError } from '../transfer/records.js';
import { checkSchema } from './build.js';
import { SCHEMA_VERSION } from './collections.js';
import { beginImport, endImport, filledCollections, refuseIncomplete, undoImport } from './importing.js';
import { MongoTransferSource } from './transfer-source.js';
import { TransferStores } from './transfer-stores.js';
import { MongoTransferTarget } from './transfer-target.js';

async function connected<T>(uri: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await TransferStores.connect(uri);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** Runs work on a database that no server may write to meanwhile. */
export function fromDatabase<T>(
  uri: string,
  work: (source: MongoTransferSource, schemaVersion: number) => Promise<T>,
): Promise<T> {
  return connected(uri, async (connection) => {
    await refuseIncomplete(connection.db!);
    if ((await filledCollections(connection.db!)).length === 0)
      throw new TransferError('The database holds nothing.');
    await checkSchema(connection.db!);
    const stores = TransferStores.asItIs(connection);
    await stores.settle();
    return work(new MongoTransferSource(stores), SCHEMA_VERSION);
  });
}

/** Runs work that fills an empty database, which no server opens before the end. Emptied again on failure. */
export function intoDatabase<T>(uri: string, work: (target: MongoTransferTarget) => Promise<T>): Promise<T> {
  return connected(uri, async (connection) => {
    const db = connection.db!;
    await beginImport(db);
    try {
      const result = await work(new MongoTransferTarget(await TransferStores.open(connection)));
      await endImport(db);
      return result;
    } catch (error) {
      // If the database is unavailable, the mark remains and tells the operator what to do.
      await undoImport(db).catch(() => undefined);
      throw error;
    }
  });
}
