import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import mongoose, { type Connection, type Model, mongo } from 'mongoose';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { ofDatabase } from '../../src/storage/transfer/checking.js';
import { COLLECTIONS, SCHEMA, SCHEMA_VERSION, WORKSPACES } from '../../src/storage/mongo/collections.js';
import { CONNECT_OPTIONS, MongoDatabase } from '../../src/storage/mongo/database.js';

interface AnyDocument {
  _id: string;
  [field: string]: unknown;
}

describeOnMongo('the database on MongoDB', () => {
  let uri: string;
  let drop: () => Promise<void>;
  let connection: Connection;
  const connect = () => mongoose.createConnection(uri, CONNECT_OPTIONS).asPromise();

  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  beforeEach(async () => {
    ({ uri, drop } = aDatabaseOn(MONGO_SERVER!));
    connection = await connect();
  });
  afterEach(async () => {
    await connection.close();
    await drop();
  });

  const indexesOf = async (name: string): Promise<string[]> =>
    Object.keys(await connection.db!.collection(name).indexInformation());

  it('has every index that is declared after the boot, and after several at once', async () => {
    const others = await Promise.all([connect(), connect()]);
    await Promise.all([connection, ...others].map((one) => MongoDatabase.open(one)));
    for (const { name, indexes } of COLLECTIONS) {
      const expected = ['_id_', ...indexes.map((index) => index.name)];
      expect((await indexesOf(name)).sort()).toEqual(expected.sort());
    }
    for (const other of others) await other.close();
  });

  it('gets an index that is missing with the next boot', async () => {
    await MongoDatabase.open(connection);
    await connection.db!.collection('users').dropIndex('email');
    await MongoDatabase.open(connection);
    expect(await indexesOf('logins')).toContain('expiresAt');
  });

  it.each([
    ['is not unique', 'users', 'email', { email: 1 }, {}],
    ['has its keys in another order', WORKSPACES, 'maker', { createdAt: 1, createdBy: 1, _id: 1 }, {}],
    ['holds only some', 'logins', 'expiresAt', { expiresAt: 1 }, { sparse: true }],
    ['is unique and not declared', 'logins', 'seed', { seed: 1 }, { unique: true }],
  ] as const)(
    'does not start where an index %s, and says what mends it',
    async (_, name, index, key, options) => {
      await MongoDatabase.open(connection);
      const collection = connection.db!.collection(name);
      if ((await indexesOf(name)).includes(index)) await collection.dropIndex(index);
      await collection.createIndex(key, { name: index, ...options });
      await expect(MongoDatabase.open(connection)).rejects.toThrow(
        `db.getCollection("${name}").dropIndex("${index}")`,
      );
      connection = await connect();
      await connection.db!.collection(name).dropIndex(index);
      await expect(MongoDatabase.open(connection)).resolves.toBeDefined();
    },
  );

  it('does not start where a validator is another, on a server that keeps them, and says what mends it', async () => {
    await MongoDatabase.open(connection);
    const [users] = await connection.db!.listCollections({ name: 'users' }, { nameOnly: false }).toArray();
    if (users?.options?.validator === undefined) return;
    await connection.db!.command({
      collMod: 'users',
      validator: { $jsonSchema: { required: ['telephone'] } },
    });
    const [, command] = /db\.runCommand\((.*)\)$/.exec(
      await MongoDatabase.open(connection).then(() => 'started', String),
    )!;
    connection = await connect();
    await connection.db!.command(JSON.parse(command!) as mongo.Document);
    await expect(MongoDatabase.open(connection)).resolves.toBeDefined();
  });

  it.each([
    ['an older', SCHEMA_VERSION - 1],
    ['a newer', SCHEMA_VERSION + 1],
  ])('of %s schema version does not open, and says what to do', async (_which, version) => {
    await MongoDatabase.open(connection);
    await connection.db!.collection(SCHEMA).updateOne({}, { $set: { version } });
    await connection.db!.collection('users').dropIndex('email');
    const { databaseName } = connection.db!;
    await expect(MongoDatabase.open(connection)).rejects.toThrow(
      `The database ${databaseName} has schema version ${version}, and this Patchbay opens version ${SCHEMA_VERSION} only. ` +
        'Export the data with the release that wrote it and import it here (patchbay-admin export, import), or start with an empty database (PATCHBAY_MONGODB_URI).',
    );
    await expect(ofDatabase(uri)).rejects.toThrow(`has schema version ${version}`);
    connection = await connect();
    expect(await indexesOf('users')).not.toContain('email');
  });

  it('that has users and no schema version does not open, and says what to do', async () => {
    await connection.db!.collection<AnyDocument>('users').insertOne({ _id: 'ada' });
    await expect(MongoDatabase.open(connection)).rejects.toThrow(/has no schema version of Patchbay.*Export/);
    connection = await connect();
    expect(await connection.db!.collection(SCHEMA).countDocuments()).toBe(0);
  });

  it('takes a document once, and no other under a key that is taken', async () => {
    const database = await MongoDatabase.open(connection);
    const users = modelOf('users');
    const user = { _id: 'a', id: 'a', email: 'a@x', fullName: null, passwordHash: '', createdAt: 1 };
    const taken = [
      user,
      user,
      { ...user, email: 'b@x' },
      { ...user, _id: 'b' },
      { ...user, _id: 'c', email: 'c@x' },
    ];
    const answers: boolean[] = [];
    for (const document of taken) answers.push(await database.insert(users, document));
    expect(answers).toEqual([true, false, false, false, true]);
  });

  it('takes the new ones of many documents, and tells of one that could not be stored', async () => {
    const database = await MongoDatabase.open(connection);
    const users = modelOf('users');
    const [a, b, c] = ['a', 'b', 'c'].map((_id) => {
      return { _id, id: _id, email: `${_id}@x`, fullName: null, passwordHash: '', createdAt: 1 };
    });
    await database.insertNew(users, [a!]);
    await database.insertNew(users, [a!, b!]);
    expect(await users.countDocuments()).toBe(2);
    const [taken, tooOld] = [11_000, 121].map((code, index) => ({ code, index }));
    const writeErrors = [taken, tooOld] as unknown as mongo.WriteError[];
    const failed = new mongo.MongoBulkWriteError(
      { message: 'Document failed validation', code: 11_000, writeErrors },
      {} as mongo.BulkWriteResult,
    );
    jest.spyOn(users, 'insertMany').mockRejectedValueOnce(failed);
    await expect(database.insertNew(users, [b!, c!])).rejects.toBe(failed);
  });

  it('acknowledges what most servers have in their journals, and reads nothing else', async () => {
    await MongoDatabase.open(connection);
    await connection.close();
    connection = await mongoose
      .createConnection(uri, { ...CONNECT_OPTIONS, monitorCommands: true })
      .asPromise();
    const sent: mongo.Document[] = [];
    connection.getClient().on('commandStarted', ({ command }) => sent.push(command));
    await modelOf('logins').findOne({ _id: 'a' });
    await modelOf('logins').deleteOne({ _id: 'a' });
    const [find, remove] = [sent.find(({ find }) => find), sent.find((one) => one.delete)];
    expect(find!.readConcern).toEqual({ level: 'majority' });
    expect(remove!.writeConcern).toMatchObject({ w: 'majority', j: true });
  });

  it('refuses what the schema does not know, in a document and in a filter', async () => {
    const database = await MongoDatabase.open(connection);
    const users = modelOf('users');
    const user = { _id: 'a', id: 'a', email: 'a@x', fullName: null, passwordHash: '', createdAt: 1 };
    await expect(database.insert(users, { ...user, isAdmin: true })).rejects.toThrow('isAdmin');
    await expect(database.insert(users, { ...user, createdAt: 'yesterday' })).rejects.toThrow('createdAt');
    await expect(database.attempt(() => users.findOne({ isAdmin: true }))).rejects.toThrow('isAdmin');
  });

  it('tries again what failed in passing, and gives up with UNAVAILABLE after a few times', async () => {
    const database = await MongoDatabase.open(connection);
    let calls = 0;
    const failing = (times: number, error: Error) => {
      calls = 0;
      return () => ((calls += 1) <= times ? Promise.reject(error) : Promise.resolve('done'));
    };
    const stepDown = new mongo.MongoServerError({ message: 'not primary', code: 10_107 });
    const lost = new mongo.MongoNetworkError('connection closed');
    for (const error of [stepDown, lost]) {
      expect([await database.attempt(failing(2, error)), calls]).toEqual(['done', 3]);
      await expect(database.attempt(failing(99, error))).rejects.toMatchObject({
        ...{ code: 'UNAVAILABLE', status: 503, extras: { retryAfterSeconds: 5 } },
      });
      expect(calls).toBe(5);
    }
    const fault = new Error('a fault of ours');
    await expect(database.attempt(failing(1, fault))).rejects.toBe(fault);
  });

  it('gives up with UNAVAILABLE once a server has taken ten seconds to fail', async () => {
    const database = await MongoDatabase.open(connection);
    const start = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(start);
    let calls = 0;
    const timedOut = () => {
      calls += 1;
      clock.mockReturnValue(start + calls * 5_001);
      return Promise.reject(new mongo.MongoNetworkTimeoutError('connection timed out'));
    };
    await expect(database.attempt(timedOut)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(calls).toBe(2);
    clock.mockRestore();
  });

  it('gives up with UNAVAILABLE on what the driver never ends', async () => {
    const database = await MongoDatabase.open(connection);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    try {
      const answer = database.attempt(() => new Promise(() => undefined)).catch((error: unknown) => error);
      await jest.advanceTimersByTimeAsync(29_999);
      expect(await Promise.race([answer, Promise.resolve('waits')])).toBe('waits');
      await jest.advanceTimersByTimeAsync(1);
      expect(await answer).toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      jest.useRealTimers();
    }
  });

  it('answers UNAVAILABLE where no server is found, and once the server is stopping', async () => {
    const database = await MongoDatabase.open(connection);
    await connection.close();
    let pings = 0;
    const ping = () => {
      pings += 1;
      return modelOf('users').findOne({}).exec();
    };
    await expect(database.attempt(ping)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // Whoever waited that long for a server does not do so five times.
    expect(pings).toBe(1);
    connection = await connect();
    database.onApplicationShutdown();
    await expect(database.attempt(() => Promise.resolve(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  function modelOf(name: string): Model<AnyDocument> {
    const { schema } = COLLECTIONS.find((collection) => collection.name === name)!;
    return connection.model<AnyDocument>(name, schema, name);
  }
});
