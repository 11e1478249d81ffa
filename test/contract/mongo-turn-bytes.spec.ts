import mongoose, { type Connection } from 'mongoose';
import { CONNECT_OPTIONS, MongoDatabase } from '../../src/storage/mongo/database.js';
import { TurnBytes } from '../../src/storage/mongo/turn-bytes.js';
import {
  TURN_BYTES,
  TURN_COLLECTIONS,
  type TurnBytesDocument,
} from '../../src/storage/mongo/turn-collections.js';
import { HOUR_MS } from '../../src/storage/ports/usage.store.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';

/** So much is written at once. */
const ENOUGH = 64 * 1024;

describeOnMongo('bytes of turns on MongoDB', () => {
  let connection: Connection;
  let drop: () => Promise<void>;
  let nodes: TurnBytes[];

  beforeAll(async () => {
    const own = aDatabaseOn(MONGO_SERVER!);
    ({ drop } = own);
    connection = await mongoose.createConnection(own.uri, CONNECT_OPTIONS).asPromise();
    const database = await MongoDatabase.open(connection);
    const { schema } = TURN_COLLECTIONS.find(({ name }) => name === TURN_BYTES)!;
    const model = connection.model<TurnBytesDocument>(TURN_BYTES, schema, TURN_BYTES);
    nodes = [new TurnBytes(database, model), new TurnBytes(database, model)];
  });
  afterAll(async () => {
    await connection.close();
    await drop();
  });

  it('are added up where several servers count at once, from the first of an hour on', async () => {
    const added = { workspaceId: 'w', userId: 'ada', at: 9 * HOUR_MS, bytes: ENOUGH };
    const counts = Array.from({ length: 16 }, (_, n) => nodes[n % 2]!.count(added));
    await Promise.all(counts);
    for (const node of nodes) {
      expect(await node.ofUser('ada', 0)).toEqual([{ hour: 9, bytes: 16 * ENOUGH }]);
      expect(await node.ofWorkspace('w', 0)).toEqual([{ hour: 9, bytes: 16 * ENOUGH }]);
      expect(await node.ofWorkspace('w', 10)).toEqual([]);
    }
  });

  it('are told with what waits to be written, and forgotten once their day is over', async () => {
    const added = { workspaceId: 'v', userId: 'ben', at: 9 * HOUR_MS, bytes: ENOUGH };
    await nodes[0]!.count(added);
    await nodes[0]!.count({ ...added, bytes: 5 });
    expect(await nodes[0]!.ofUser('ben', 0)).toEqual([{ hour: 9, bytes: ENOUGH + 5 }]);
    await nodes[0]!.count({ ...added, at: 57 * HOUR_MS });
    expect(await nodes[1]!.ofUser('ben', 0)).toEqual([{ hour: 57, bytes: ENOUGH }]);
  });
});
