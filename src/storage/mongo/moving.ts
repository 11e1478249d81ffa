import type { Connection, mongo } from 'mongoose';

/** Holds one document for as long as a move into the database is not complete. */
export const MOVING = 'moving';
const THE_MOVE = 'move';

interface MovingDocument {
  _id: string;
  /** What is moved, as the source names itself. */
  source: string;
}

function moving(db: mongo.Db): mongo.Collection<MovingDocument> {
  return db.collection<MovingDocument>(MOVING);
}

/** The source of the move that is under way; null where none is. */
export async function movedFrom(db: mongo.Db): Promise<string | null> {
  return (await moving(db).findOne({ _id: THE_MOVE }))?.source ?? null;
}

export async function beginMoving(db: mongo.Db, source: string): Promise<void> {
  await moving(db).updateOne({ _id: THE_MOVE }, { $set: { source } }, { upsert: true });
}

export async function endMoving(db: mongo.Db): Promise<void> {
  await moving(db).deleteOne({ _id: THE_MOVE });
}

/** The names of the collections that hold something. */
export async function filledCollections(db: mongo.Db): Promise<string[]> {
  const filled: string[] = [];
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    if (name.startsWith('system.')) continue;
    if ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) !== null) filled.push(name);
  }
  return filled;
}

/** No server on half of the data: what it wrote would be in the way of the rest. */
export async function refuseHalfMoved(connection: Connection): Promise<void> {
  if ((await movedFrom(connection.db!)) === null) return;
  await connection.close();
  throw new Error(
    'A move of data into this database is not complete: give the command patchbay-admin migrate again, or drop it.',
  );
}
