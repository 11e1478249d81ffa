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

/** Lets a database be read that no server writes to meanwhile. */
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

/** Lets an empty database be filled. No server starts on it before the work is done. Where that fails it is emptied again. */
export function intoDatabase<T>(uri: string, work: (target: MongoTransferTarget) => Promise<T>): Promise<T> {
  return connected(uri, async (connection) => {
    const db = connection.db!;
    await beginImport(db);
    try {
      const result = await work(new MongoTransferTarget(await TransferStores.open(connection)));
      await endImport(db);
      return result;
    } catch (error) {
      // Where the database is away, the mark stays, and says to whoever comes next what is to be done.
      await undoImport(db).catch(() => undefined);
      throw error;
    }
  });
}
