import type { Connection } from 'mongoose';
import { MoveError } from '../move/records.js';
import { type FirstUserDocument, FIRST_USER } from './collections.js';
import { MoveRooms } from './move-rooms.js';
import { MongoMoveSource } from './move-source.js';
import { MongoMoveTarget } from './move-target.js';
import { beginMoving, endMoving, filledCollections, movedFrom, MOVING } from './moving.js';

/** A database that nobody else uses, for as long as the work takes. */
async function connected<T>(uri: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await MoveRooms.connect(uri);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/**
 * Lets a database be filled that is empty, or that a move from this source was broken off in. No server starts on it before
 * the work is done.
 * @param from names the source.
 */
export function intoDatabase(
  uri: string,
  from: string,
  work: (target: MongoMoveTarget) => Promise<void>,
): Promise<void> {
  return connected(uri, async (connection) => {
    const db = connection.db!;
    const before = await movedFrom(db);
    const filled = before === null ? (await filledCollections(db)).filter((name) => name !== MOVING) : [];
    if (filled.length > 0)
      throw new MoveError(
        `The database holds something already, in ${filled.join(', ')}: name one that is empty.`,
      );
    if (before !== null && before !== from)
      throw new MoveError('The database holds a part of other data: name one that is empty, or drop it.');
    await beginMoving(db, from);
    await work(new MongoMoveTarget(await MoveRooms.open(connection)));
    await endMoving(db);
  });
}

/** Lets a database be read that no server is on, and is told what names it. */
export function fromDatabase(
  uri: string,
  work: (source: MongoMoveSource, name: string) => Promise<void>,
): Promise<void> {
  return connected(uri, async (connection) => {
    const db = connection.db!;
    if ((await movedFrom(db)) !== null)
      throw new MoveError('A move of data into this database is not complete: it can not be moved on yet.');
    if ((await filledCollections(db)).length === 0) throw new MoveError('The database holds nothing.');
    const rooms = await MoveRooms.open(connection);
    await rooms.settle();
    const first = await rooms.model<FirstUserDocument>(FIRST_USER).findOne().lean<FirstUserDocument>();
    await work(new MongoMoveSource(rooms), first?.userId ?? '');
  });
}
