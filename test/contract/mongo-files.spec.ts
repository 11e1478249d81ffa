import { jest } from '@jest/globals';
import { getConnectionToken, getModelToken } from '@nestjs/mongoose';
import mongoose, { type Connection, type Model, mongo } from 'mongoose';
import { sha256 } from '@patchbay/protocol/hash';
import { Config } from '../../src/config/config.js';
import { Blobs, ownerOf } from '../../src/storage/mongo/blobs.js';
import { BLOBS, SPELLINGS } from '../../src/storage/mongo/file-collections.js';
import { MongoDatabase } from '../../src/storage/mongo/database.js';
import { EntryWrites } from '../../src/storage/mongo/entry-writes.js';
import { Folders } from '../../src/storage/mongo/folders.js';
import { PARTS } from '../../src/storage/mongo/part-collections.js';
import { COUNTING, USAGE } from '../../src/storage/mongo/usage-collections.js';
import { UsageCounter } from '../../src/storage/mongo/usage-counter.js';
import { UsageRecount } from '../../src/storage/mongo/usage-recount.js';
import { keyOf } from '../../src/storage/mongo/values.js';
import { MongoStorageModule } from '../../src/storage/mongo/mongo.module.js';
import { NOON } from '../../src/turns/turn.sample.js';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { waitFor } from '../support/wait-for.js';
import { type Stores, storesOf } from './backends.js';
import { aFile, aFolder, bytesOf, moved, withHead } from './file-records.js';
import { givenWorkspace } from './records.js';

const HOUR = 3_600_000;
const FAR_BELOW_16_MB = 5 * 1024 * 1024;
const { maxFileBytes: MAX_FILE_BYTES } = Config.with({});

describeOnMongo('files on MongoDB', () => {
  let drop: () => Promise<void>;
  let uri: string;
  let connection: Connection;
  let app: INestApplicationContext;
  let stores: Stores;

  beforeAll(async () => {
    const own = aDatabaseOn(MONGO_SERVER!);
    ({ drop, uri } = own);
    const logger = { logger: false, abortOnError: false } as const;
    const watched = new URL(own.uri);
    watched.searchParams.set('monitorCommands', 'true');
    app = await NestFactory.createApplicationContext(MongoStorageModule.on(watched.href), logger);
    stores = storesOf(app);
    connection = await mongoose.createConnection(own.uri).asPromise();
  });
  afterAll(async () => {
    await app.close();
    await connection.close();
    await drop();
  });

  const in_ = (name: string) => connection.db!.collection<{ _id: string; [field: string]: unknown }>(name);
  const big = Buffer.alloc(9_000_000, 'some bytes that need several parts');
  const hash = sha256(big);
  const put = (workspaceId: string, now = NOON) =>
    stores.blobs.put({ workspaceId, userId: 'u' }, hash, big, now);
  const isThere = async (workspaceId: string) =>
    (await stores.blobs.read(workspaceId, hash))?.equals(big) === true;

  it('have their bytes in documents far below 16 MB, however many they are', async () => {
    const workspaceId = await givenWorkspace(stores);
    const bytes = Buffer.alloc(5 * MAX_FILE_BYTES + 1, 'bytes that need more parts still');
    const sha = sha256(bytes);
    await stores.blobs.put({ workspaceId, userId: 'u' }, sha, bytes, NOON);
    expect((await stores.blobs.read(workspaceId, sha))!.equals(bytes)).toBe(true);
    for (const name of [BLOBS, PARTS]) {
      const sizes = await in_(name)
        .find()
        .map((found) => mongo.BSON.calculateObjectSize(found))
        .toArray();
      expect(sizes.length).toBeGreaterThan(0);
      expect(Math.max(...sizes)).toBeLessThan(FAR_BELOW_16_MB);
    }
  });

  it('come a hundred at once with few commands, and each with its own answer', async () => {
    const workspaceId = await givenWorkspace(stores);
    const textOf = (n: number): string => `bytes ${n % 50}`;
    const files = Array.from({ length: 100 }, (_, n) => {
      const file = aFile(workspaceId, `/a/${n % 10}/${n}`, textOf(n), { holder: 'ada' });
      return { ...file, head: { ...file.head, author: 'ada' } };
    });
    await stores.files.insert({ ...files[99]!, id: 'other' }, bytesOf(textOf(99)), []);
    let commands = 0;
    const client = app.get<Connection>(getConnectionToken()).getClient();
    const count = (): unknown => (commands += 1);
    client.on('commandStarted', count);
    const made = await Promise.all(
      files.map(async (file, n) => {
        const before = await stores.files.at(workspaceId, file.docPath);
        return [before?.id ?? null, await stores.files.insert(file, bytesOf(textOf(n)), [])];
      }),
    );
    client.off('commandStarted', count);
    expect(made).toEqual(files.map((_, n) => [n === 99 ? 'other' : null, n < 99]));
    const hashes = files.map(({ head }) => head.sha256);
    expect(await stores.blobs.missing(workspaceId, hashes)).toEqual([]);
    expect(await stores.files.childrenOf(workspaceId, 'a', null, 99)).toHaveLength(10);
    expect((await stores.usage.ofWorkspace(workspaceId)).files).toBe(100);
    expect(commands).toBeLessThan(40);
  });

  it('finish an upload that was broken off, by whoever brings the bytes again', async () => {
    const workspaceId = await givenWorkspace(stores);
    await put(workspaceId);
    // As it is before the parts are there.
    await in_(BLOBS).updateOne({ workspaceId }, { $set: { state: 'coming' } });
    await in_(PARTS).deleteMany({ at: { $gt: 0 } });
    expect(await stores.blobs.missing(workspaceId, [hash])).toEqual([hash]);
    expect(await stores.blobs.read(workspaceId, hash)).toBeNull();
    await expect(
      stores.files.insert(aFile(workspaceId, '/a', big.toString()), null, []),
    ).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    await put(workspaceId);
    expect(await isThere(workspaceId)).toBe(true);
  });

  it('finish a removal that was broken off, and keep the bytes of whoever comes then', async () => {
    const workspaceId = await givenWorkspace(stores);
    await put(workspaceId);
    await in_(BLOBS).updateOne({ workspaceId }, { $set: { state: 'going', markedAt: NOON } });
    expect(await stores.blobs.missing(workspaceId, [hash])).toEqual([hash]);
    await put(workspaceId, NOON + HOUR);
    expect(await isThere(workspaceId)).toBe(true);
    await in_(BLOBS).updateOne({ workspaceId }, { $set: { state: 'going', markedAt: NOON } });
    const { generation } = (await in_(BLOBS).findOne({ workspaceId }))!;
    await stores.blobs.removeMarked(NOON + HOUR, 1000);
    expect(await in_(BLOBS).findOne({ workspaceId })).toBeNull();
    const owners = await in_(PARTS).distinct('owner');
    expect(owners.filter((owner) => String(owner).includes(String(generation)))).toEqual([]);
  });

  it('are rid of parts of bytes that were gone when they came', async () => {
    const workspaceId = await givenWorkspace(stores);
    await put(workspaceId);
    const { _id, generation } = (await in_(BLOBS).findOne({ workspaceId }))! as {
      _id: string;
      generation: string;
    };
    // Of another generation, of a blob that is not there, and of another room.
    const [late, lost] = [ownerOf({ _id, generation: 'late' }), ownerOf({ _id: 'none', generation })];
    const other = keyOf('patch record', 'none');
    for (const owner of [late, lost, other])
      await in_(PARTS).insertOne({ _id: keyOf(owner, '0'), owner, at: 0, bytes: Buffer.from('bytes') });
    const blobs = app.get(Blobs, { strict: false });
    for (let after: string | null = ''; after !== null;) after = await blobs.removeOrphanParts(after, 1);
    const owners = await in_(PARTS).distinct('owner');
    expect([late, lost, other].map((owner) => owners.includes(owner))).toEqual([false, false, true]);
    expect(await isThere(workspaceId)).toBe(true);
  });

  it('list no folder of a write that was never made', async () => {
    const workspaceId = await givenWorkspace(stores);
    const spelt = { workspaceId, parent: '', path: '/Never', docPath: 'never' };
    await in_(SPELLINGS).insertOne({ _id: JSON.stringify([workspaceId, '/Never']), ...spelt });
    expect(await stores.files.childrenOf(workspaceId, '', null, 9)).toEqual([]);
    expect(await stores.files.below(workspaceId, '', null, 9)).toEqual([]);
    expect(await stores.files.at(workspaceId, 'never')).toBeNull();
  });

  describe('and their folders', () => {
    const HOURS = 2 * HOUR;
    let folders: Folders;
    let workspaceId: string;
    let passed: number;
    beforeEach(async () => {
      folders = app.get(Folders, { strict: false });
      workspaceId = await givenWorkspace(stores);
      passed = 0;
      const now = Date.now.bind(Date);
      jest.spyOn(Date, 'now').mockImplementation(() => now() + passed);
    });
    afterEach(() => jest.restoreAllMocks());

    const insert = async (path: string) => {
      const file = aFile(workspaceId, path);
      expect(await stores.files.insert(file, bytesOf(path), [])).toBe(true);
      return file;
    };
    const sweep = async () => {
      while (await folders.removeUnused(Date.now() - HOUR, 2));
    };
    const spelt = async () => (await in_(SPELLINGS).distinct('path', { workspaceId })).sort();
    const listed = async (folder: string) =>
      (await stores.files.childrenOf(workspaceId, folder, null, 9)).map(({ path }) => path);

    it('lose the spellings of those that are not there any more, and are spelt anew', async () => {
      const [gone, renamed] = [await insert('/Gone/Deep/a'), await insert('/Old/b')];
      await insert('/Kept/c');
      const made = aFolder(workspaceId, '/Outer/Made');
      await stores.files.insertFolder(made, []);
      await insert('/Gone/Deep/d').then((file) => stores.files.save(moved(file, { deletedAt: NOON }), 1, []));
      passed += HOURS;
      await sweep();
      expect(await spelt()).toEqual(['/Gone', '/Gone/Deep', '/Kept', '/Old', '/Outer']);
      await stores.files.save(moved(gone, { deletedAt: NOON }), 1, []);
      await stores.files.save(moved(renamed, { path: '/Kept/b', docPath: 'kept/b' }), 1, []);
      await stores.files.removeFolder(made, NOON, []);
      await sweep();
      expect(await spelt()).toHaveLength(5);
      passed += HOURS;
      await sweep();
      expect(await spelt()).toEqual(['/Kept']);
      await insert('/gone/e');
      expect([await listed(''), await listed('gone')]).toEqual([['/Kept', '/gone'], ['/gone/e']]);
    });

    it('keep a spelling that somebody comes to need while it is looked at', async () => {
      const file = await insert('/Folder/a');
      await stores.files.save(moved(file, { deletedAt: NOON }), 1, []);
      passed += HOURS;
      jest.spyOn(folders, 'impliedAt').mockImplementationOnce(async () => {
        await insert('/Folder/b');
        return null;
      });
      await sweep();
      expect(await listed('')).toEqual(['/Folder']);
    });
  });

  it('are counted again where a count came so late that a recount may have seen its write before', async () => {
    const workspaceId = await givenWorkspace(stores);
    const counter = app.get(UsageCounter, { strict: false });
    const inDoubt = () => in_(COUNTING).findOne({ workspaceId, process: 'doubt' });
    const recount = app.get(UsageRecount, { strict: false });
    const now = Date.now();
    // The write is made, its answer comes five seconds later.
    const slowly = (meanwhile: () => Promise<unknown>) => {
      const writes = app.get(EntryWrites, { strict: false });
      const insert = writes.insert.bind(writes);
      jest.spyOn(writes, 'insert').mockImplementationOnce(async (...entry) => {
        const isMade = await insert(...entry);
        await meanwhile();
        jest.spyOn(Date, 'now').mockReturnValue(now + 5_000);
        return isMade;
      });
    };
    const write = async (path: string) => {
      await stores.files.insert(aFile(workspaceId, path, 'text', { holder: 'ada' }), bytesOf('text'), []);
      await counter.flush();
      jest.restoreAllMocks();
    };
    slowly(() => Promise.resolve());
    await write('/late');
    expect(await inDoubt()).toBeNull();
    slowly(() => recount.count(workspaceId, 0));
    await write('/late-and-recounted');
    expect(await stores.usage.ofWorkspace(workspaceId)).toMatchObject({ files: 3 });
    await waitFor(async () => (await inDoubt()) !== null, 'the counts to be in doubt');
    await recount.ofThoseWhoAreGone(2);
    expect(await stores.usage.ofWorkspace(workspaceId)).toMatchObject({ files: 2 });
    expect(await inDoubt()).toBeNull();
  });

  it('stay in doubt while the database is away, also of a process that then stops', async () => {
    const workspaceId = await givenWorkspace(stores);
    const logger = { logger: false, abortOnError: false } as const;
    const other = await NestFactory.createApplicationContext(MongoStorageModule.on(uri), logger);
    const counter = other.get(UsageCounter, { strict: false });
    await counter.begin(workspaceId);
    const away = new Error('The database is away.');
    const written = jest
      .spyOn(other.get<Model<unknown>>(getModelToken(USAGE), { strict: false }), 'findOneAndUpdate')
      .mockImplementation(() => {
        throw away;
      });
    const noted = jest.spyOn(other.get(MongoDatabase, { strict: false }), 'insert').mockRejectedValue(away);
    counter.count(workspaceId, 'ada', { files: 1 }, Date.now());
    await counter.flush();
    expect(noted).toHaveBeenCalled();
    for (const fault of [written, noted]) fault.mockRestore();
    const inDoubt = () => in_(COUNTING).findOne({ workspaceId, process: 'doubt' });
    expect(await inDoubt()).toBeNull();
    await other.close();
    expect(await inDoubt()).not.toBeNull();
    await app.get(UsageRecount, { strict: false }).ofThoseWhoAreGone(2);
    expect(await inDoubt()).toBeNull();
  });

  it('are counted again where a process went before it had counted', async () => {
    const workspaceId = await givenWorkspace(stores);
    const { files, sessions, usage } = stores;
    let file = aFile(workspaceId, '/a', 'text', { holder: 'ada' });
    await files.insert(file, bytesOf('text'), []);
    for (let count = 0; count < 40; count += 1) {
      const next = withHead(file, 'text', { author: 'ben' });
      await files.commitVersion(next, file.revision, null, []);
      file = next;
    }
    const folder = { ...aFolder(workspaceId, '/f'), holder: 'ben' };
    await files.insertFolder(folder, []);
    await files.removeFolder(folder, NOON, []);
    const gone = aFile(workspaceId, '/b', 'more', { holder: 'ben' });
    await files.insert(gone, bytesOf('more'), []);
    await files.save(moved(gone, { deletedAt: NOON }), 1, []);
    const names = { conversationId: 'v', clientId: null, tools: ['read'], createdAt: NOON };
    await sessions.insert({ id: 's', workspaceId, userId: 'ada', ...names });
    const active = { docPath: 'ä', displayPath: 'ä', sha256: 'x', sizeBytes: 1, isDirty: false };
    await sessions.replaceActiveFiles(workspaceId, 's', [active]);
    const all = await usage.ofWorkspace(workspaceId);
    expect(all).toMatchObject({ files: 1, versions: 43, sessions: 1 });
    const counted = (await in_(USAGE).findOne({ _id: workspaceId }))!;

    await in_(USAGE).updateOne(
      { _id: workspaceId },
      { $set: { bytes: 0, files: 7, versions: 1, members: [] } },
    );
    await in_(COUNTING).insertOne({ _id: 'left', process: 'gone', workspaceId, until: 1 });
    await app.get(UsageRecount, { strict: false }).ofThoseWhoAreGone(2);
    expect(await usage.ofWorkspace(workspaceId)).toEqual(all);
    const again = (await in_(USAGE).findOne({ _id: workspaceId }))!;
    expect(new Set(again.members as object[])).toEqual(new Set(counted.members as object[]));
    expect(await in_(COUNTING).findOne({ _id: 'left' })).toBeNull();
  });
});
