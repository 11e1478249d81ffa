import { jest } from '@jest/globals';
import { getConnectionToken, getModelToken } from '@nestjs/mongoose';
import { type Connection, type Model, mongo as driver } from 'mongoose';
import { sha256 } from '@patchbay/protocol/hash';
import { Config } from '../../src/config/config.js';
import { Blobs, ownerOf } from '../../src/storage/mongo/blobs.js';
import { MongoDatabase } from '../../src/storage/mongo/database.js';
import { BLOBS, type EntryDocument, ENTRIES, SPELLINGS } from '../../src/storage/mongo/file-collections.js';
import { FolderSpellings } from '../../src/storage/mongo/folder-spellings.js';
import { PARTS } from '../../src/storage/mongo/part-collections.js';
import { Projector } from '../../src/storage/mongo/projector.js';
import { keyOf } from '../../src/storage/mongo/values.js';
import { Versions } from '../../src/storage/mongo/versions.js';
import { NOON } from '../../src/turns/state/turn.sample.js';
import { suiteFixture } from '../support/fixtures.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { aFile, aFolder, aVersion, bytesOf, moved, withHead } from './file-records.js';
import { openMongoApp } from './mongo-app.js';
import { anEvent, givenWorkspace, upTo } from './records.js';

const HOUR = 3_600_000;
const FAR_BELOW_16_MB = 5 * 1024 * 1024;
const { maxFileBytes: MAX_FILE_BYTES } = Config.with({});

interface Owner {
  _id: string;
  generation: string;
}

describeOnMongo('files on MongoDB', () => {
  const mongo = suiteFixture(() => openMongoApp());
  const stores = suiteFixture(() => mongo.stores);
  afterEach(() => jest.restoreAllMocks());

  const in_ = (name: string) => mongo.in_(name);
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
        .map((found) => driver.BSON.calculateObjectSize(found))
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
    const client = mongo.part<Connection>(getConnectionToken()).getClient();
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
    const blobs = mongo.part(Blobs);
    for (let after: string | null = ''; after !== null;) after = await blobs.removeOrphanParts(after, 1);
    const owners = await in_(PARTS).distinct('owner');
    expect([late, lost, other].map((owner) => owners.includes(owner))).toEqual([false, false, true]);
    expect(await isThere(workspaceId)).toBe(true);
  });

  it('are not given where a part of their bytes is missing', async () => {
    const workspaceId = await givenWorkspace(stores);
    await put(workspaceId);
    const { _id, generation } = (await in_(BLOBS).findOne({ workspaceId })) as unknown as Owner;
    await in_(PARTS).deleteOne({ owner: ownerOf({ _id, generation }), at: 1 });
    expect(await stores.blobs.read(workspaceId, hash)).toBeNull();
  });

  it('have an outbox of a bound size, whoever empties it', async () => {
    // Nobody but the writes themselves.
    jest.spyOn(mongo.part(Projector), 'wake').mockReturnValue();
    let file = aFile(await givenWorkspace(stores), '/a');
    await stores.files.insert(file, bytesOf('/a'), []);
    const waiting = () =>
      mongo
        .part<Model<EntryDocument>>(getModelToken(ENTRIES))
        .findOne({ id: file.id }, { outbox: 1 })
        .lean<Pick<EntryDocument, 'outbox'>>();
    for (let n = 0; n < 4; n += 1) {
      const next = moved(file, {});
      const events = upTo(600).map(() => anEvent());
      expect(await stores.files.save(next, file.revision, events)).toBe(true);
      file = next;
      expect((await waiting())!.outbox.length).toBeLessThan(1_600);
    }
  });

  it('tell who projects their events as soon as there are some', async () => {
    const wake = jest.spyOn(mongo.part(Projector), 'wake');
    const file = aFile(await givenWorkspace(stores), '/a');
    await stores.files.insert(file, bytesOf('/a'), [anEvent()]);
    expect(wake.mock.calls).toEqual([[file.workspaceId]]);
    await stores.files.save(moved(file, {}), file.revision, [anEvent()]);
    expect(wake.mock.calls).toEqual([[file.workspaceId], [file.workspaceId]]);
  });

  describe('and their versions, while these are moved to their collection', () => {
    const given = async (count: number) => {
      let file = aFile(await givenWorkspace(stores), '/a', 'text');
      await stores.files.insert(file, bytesOf('text'), []);
      for (let n = 1; n < count; n += 1) {
        const next = withHead(file, 'text');
        await stores.files.commitVersion(next, file.revision, null, []);
        file = next;
      }
      return file;
    };
    const numbersOf = async ({ workspaceId, id }: { workspaceId: string; id: string }) =>
      (await stores.files.versionsOf(workspaceId, id, null, 99)).map(({ number }) => number);

    it('are listed', async () => {
      const file = await given(3);
      const versions = mongo.part(Versions) as unknown as { freshOf: (...of: string[]) => Promise<unknown> };
      const freshOf = versions.freshOf.bind(versions);
      jest.spyOn(versions, 'freshOf').mockImplementationOnce(async (...of) => {
        await mongo.part(Versions).moveFresh(file.workspaceId, file.id, 99);
        return freshOf(...of);
      });
      expect(await numbersOf(file)).toEqual([3, 2, 1]);
      expect(await in_(ENTRIES).countDocuments({ id: file.id, fresh: [] })).toBe(1);
    });

    it('keep one that comes just then', async () => {
      const file = await given(3);
      const database = mongo.part(MongoDatabase);
      const insertNew = database.insertNew.bind(database);
      jest.spyOn(database, 'insertNew').mockImplementationOnce(async (...documents) => {
        const late = aVersion('text', { number: 4 });
        await in_(ENTRIES).updateOne({ id: file.id }, { $push: { fresh: late } } as object);
        return insertNew(...documents);
      });
      await mongo.part(Versions).moveFresh(file.workspaceId, file.id, 99);
      expect(await numbersOf(file)).toEqual([4, 3, 2, 1]);
    });
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
    let folders: FolderSpellings;
    let workspaceId: string;
    let passed: number;
    beforeEach(async () => {
      folders = mongo.part(FolderSpellings);
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
});
