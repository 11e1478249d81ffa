import { type Connection, mongo } from 'mongoose';
import { TransferError } from '../transfer/records.js';

/** Holds one document while an import into the database is incomplete. */
const IMPORTING = 'importing';
const THE_IMPORT = 'import';
const INCOMPLETE =
  'An import into this database is not complete, or was broken off: let it end, or drop the database (db.dropDatabase() in mongosh).';

interface ImportDocument {
  _id: string;
  startedAt: Date;
}

function importing(db: mongo.Db): mongo.Collection<ImportDocument> {
  return db.collection<ImportDocument>(IMPORTING);
}

export async function refuseIncomplete(db: mongo.Db): Promise<void> {
  if ((await importing(db).findOne({ _id: THE_IMPORT })) !== null) throw new TransferError(INCOMPLETE);
}

/** Marks an empty database. Of two concurrent imports one is refused. */
export async function beginImport(db: mongo.Db): Promise<void> {
  await refuseIncomplete(db);
  const filled = await filledCollections(db);
  if (filled.length > 0)
    throw new TransferError(
      `The database holds something already, in ${filled.join(', ')}: import into one that is empty.`,
    );
  try {
    await importing(db).insertOne({ _id: THE_IMPORT, startedAt: new Date() });
  } catch (error) {
    if (error instanceof mongo.MongoServerError && error.code === 11000) throw new TransferError(INCOMPLETE);
    throw error;
  }
}

export async function endImport(db: mongo.Db): Promise<void> {
  await importing(db).drop();
}

/** Empties the database, which was empty before the import; removes the mark last. */
export async function undoImport(db: mongo.Db): Promise<void> {
  for (const name of await collectionsOf(db)) if (name !== IMPORTING) await db.dropCollection(name);
  await endImport(db);
}

/** The names of the non-empty collections. */
export async function filledCollections(db: mongo.Db): Promise<string[]> {
  const filled: string[] = [];
  for (const name of await collectionsOf(db))
    if ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) !== null) filled.push(name);
  return filled;
}

async function collectionsOf(db: mongo.Db): Promise<string[]> {
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  return listed.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
}

/** Refuses to start a server on half of the data: its writes would conflict with the rest. */
export async function refuseHalfImported(connection: Connection): Promise<void> {
  try {
    await refuseIncomplete(connection.db!);
  } catch (error) {
    await connection.close();
    throw error;
  }
}
