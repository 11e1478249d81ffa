import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import mongoose, { type Connection } from 'mongoose';
import { CHECKS, COLLECTIONS, SCHEMA } from '../../src/storage/mongo/collections.js';
import { BLOBS } from '../../src/storage/mongo/file-collections.js';
import { MongoStorageModule } from '../../src/storage/mongo/mongo.module.js';
import { Projector } from '../../src/storage/mongo/projector.js';
import { USAGE } from '../../src/storage/mongo/usage-collections.js';
import { UsageCounter } from '../../src/storage/mongo/usage-counter.js';
import { MongoProxy, type Treatment } from '../support/mongo-proxy.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { type Stores, storesOf } from './backends.js';
import { KINDS } from './faults.js';
import { SCENES } from './method-cases.js';
import type { Fixture } from './fixture.js';

/** Holds nothing of the aggregates, or counts that may be wrong by what was in flight (`UsageStore`). */
const LEFT_OUT = new Set<string>([CHECKS, SCHEMA, USAGE]);
const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify']);
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What a call of a method has come to, its ids replaced by their ranks: they are others each time. */
interface Ending {
  answer: unknown;
  documents: Record<string, unknown[]>;
}

const METHODS = Object.entries(SCENES).flatMap(([port, fixtures]) =>
  Object.entries(fixtures as Record<string, Fixture>).map(([method, fixture]) => ({
    name: `${port}.${method}`,
    fixture,
  })),
);

describeOnMongo('a bad line to MongoDB', () => {
  let drop: () => Promise<void>;
  let proxy: MongoProxy;
  let connection: Connection;
  let app: INestApplicationContext;
  let stores: Stores;
  /** The collections that the last call has left something in. */
  const filled = new Set<string>();

  beforeAll(async () => {
    const own = aDatabaseOn(MONGO_SERVER!);
    ({ drop } = own);
    proxy = await MongoProxy.to(own.uri);
    const logger = { logger: false, abortOnError: false } as const;
    app = await NestFactory.createApplicationContext(MongoStorageModule.on(proxy.uri), logger);
    stores = storesOf(app);
    connection = await mongoose.createConnection(own.uri).asPromise();
  });
  afterAll(async () => {
    await app.close();
    await proxy.close();
    await connection.close();
    await drop();
  });

  function collections() {
    const names = COLLECTIONS.map(({ name }) => name).filter((name) => !LEFT_OUT.has(name));
    return names.map((name) => connection.db!.collection(name));
  }

  async function dump(answer: unknown): Promise<Ending> {
    const documents: Record<string, unknown[]> = {};
    const all = collections().map(async (collection) => {
      const found = await collection.find({}, { sort: { _id: 1 } }).toArray();
      filled.delete(collection.collectionName);
      if (found.length === 0) return;
      documents[collection.collectionName] = found;
      filled.add(collection.collectionName);
    });
    await Promise.all(all);
    // How often it was written, for whoever writes on a condition, is not what was written.
    for (const name of [BLOBS, 'clients'])
      for (const document of (documents[name] ?? []) as { revision?: number }[]) delete document.revision;
    const text = JSON.stringify({ answer, documents }, (field, value: unknown) => {
      if (field === 'looseSince' && value !== null) return 'a time';
      return value instanceof Map ? [...value] : value;
    });
    const ids = [...new Set(text.match(ID))].sort();
    return JSON.parse(text.replace(ID, (id) => `id ${ids.indexOf(id)}`)) as Ending;
  }

  /** What waited has come to where it belongs. */
  async function settle(): Promise<void> {
    const workspaces = await connection.db!.collection<{ _id: string }>('workspaces').find().toArray();
    for (const { _id } of workspaces) await app.get(Projector).drain(_id);
    await app.get(UsageCounter).flush();
  }

  /** On a store with nothing else in it; `treat` is asked about each command of the call, which are numbered from 1. */
  async function play(
    fixture: Fixture,
    treat: (command: string, number: number) => Treatment = () => null,
  ): Promise<{ ending: Ending; commands: string[] }> {
    const old = collections().filter(({ collectionName }) => filled.has(collectionName));
    await Promise.all(old.map((collection) => collection.deleteMany({})));
    const act = await fixture(stores);
    await settle();
    const commands: string[] = [];
    proxy.treat = (command) => treat(command, commands.push(command));
    const answer = await act().finally(() => (proxy.treat = () => null));
    await settle();
    return { ending: await dump(answer), commands };
  }

  it('has a fixture for every method of every port', () => {
    const named = (table: object) =>
      Object.entries(table).flatMap(([port, methods]) =>
        Object.keys(methods as object).map((method) => `${port}.${method}`),
      );
    expect(named(SCENES).sort()).toEqual(named(KINDS).sort());
  });

  it.each(METHODS)(
    'leaves $name as if nothing had happened, whatever it does to any of its commands',
    async ({ fixture }) => {
      const good = await play(fixture);
      const holds = async (what: string, treat: (command: string, number: number) => Treatment) => {
        const { ending } = await play(fixture, treat);
        expect({ what, ...ending }).toEqual({ what, ...good.ending });
      };
      for (const [at, command] of good.commands.entries()) {
        const [first, second] = [at + 1, at + 2];
        await holds(`answer ${first} lost`, (_command, number) => (number === first ? 'lose' : null));
        if (!WRITES.has(command)) continue;
        // A driver repeats a write so that the server knows it; what comes after that is a write of its own.
        const both = (treatment: Treatment) => (_command: string, number: number) =>
          number === first || number === second ? treatment : null;
        await holds(`answer ${first} lost, and that to the next`, both('lose'));
        await holds(`command ${first} lost, and the next`, both('cut'));
      }
      await holds('each write twice', (command) => (WRITES.has(command) ? 'double' : null));
      await holds('every answer late', () => 'delay');
    },
  );
});
