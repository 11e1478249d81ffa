import { jest } from '@jest/globals';
import { getModelToken } from '@nestjs/mongoose';
import { type Model, mongo as driver } from 'mongoose';
import { MongoDatabase } from '../../src/storage/mongo/database.js';
import { EntryWrites } from '../../src/storage/mongo/entry-writes.js';
import { ENTRIES, VERSIONS } from '../../src/storage/mongo/file-collections.js';
import { COUNTING, USAGE, type UsageDocument } from '../../src/storage/mongo/usage-collections.js';
import { UsageCounter } from '../../src/storage/mongo/usage-counter.js';
import { UsageRecount } from '../../src/storage/mongo/usage-recount.js';
import { NOON } from '../../src/turns/turn.sample.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { waitFor } from '../support/wait-for.js';
import { type Stores, storesOf } from './backends.js';
import { aFile, aFolder, bytesOf, moved, withHead } from './file-records.js';
import { type MongoApp, openMongoApp } from './mongo-app.js';
import { givenWorkspace } from './records.js';

describeOnMongo('counts on MongoDB', () => {
  let mongo: MongoApp;
  let stores: Stores;
  beforeAll(async () => {
    mongo = await openMongoApp();
    ({ stores } = mongo);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => mongo.close());

  const in_ = (name: string) => mongo.in_(name);
  const inDoubt = (workspaceId: string) => in_(COUNTING).findOne({ workspaceId, process: 'doubt' });
  const usageModel = () => mongo.part<Model<UsageDocument>>(getModelToken(USAGE));
  const insert = (workspaceId: string, path: string, of = stores) =>
    of.files.insert(aFile(workspaceId, path, 'text', { holder: 'ada' }), bytesOf('text'), []);
  const filesIn = async (workspaceId: string) => (await stores.usage.ofWorkspace(workspaceId)).files;

  it('are announced before the first write, so that a death in it is known of', async () => {
    const workspaceId = await givenWorkspace(stores);
    const database = mongo.part(MongoDatabase);
    const store = database.insert.bind(database);
    jest.spyOn(database, 'insert').mockImplementationOnce(async (...given) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return store(...given);
    });
    const writes = mongo.part(EntryWrites);
    const write = writes.insert.bind(writes);
    const announced: boolean[] = [];
    jest.spyOn(writes, 'insert').mockImplementationOnce(async (...given) => {
      announced.push((await in_(COUNTING).findOne({ workspaceId })) !== null);
      return write(...given);
    });
    await stores.files.insertFolder(aFolder(workspaceId, '/f'), []);
    expect(announced).toEqual([true]);
  });

  it('have a user once, whichever server counts for them first', async () => {
    const workspaceId = await givenWorkspace(stores);
    const other = await mongo.another();
    const find = usageModel().findOneAndUpdate.bind(usageModel());
    // It has looked for the user when the other server comes to count for them.
    jest.spyOn(usageModel(), 'findOneAndUpdate').mockImplementationOnce(((
      ...given: Parameters<typeof find>
    ) => ({
      lean: async () => {
        const found = await find(...given).lean();
        await insert(workspaceId, '/b', storesOf(other));
        await other.get(UsageCounter, { strict: false }).flush();
        return found;
      },
    })) as never);
    await insert(workspaceId, '/a');
    await mongo.part(UsageCounter).flush();
    const { members } = (await in_(USAGE).findOne({ _id: workspaceId })) as unknown as UsageDocument;
    expect(members.filter(({ userId }) => userId === 'ada')).toMatchObject([{ files: 2 }]);
    await other.close();
  });

  it('that could not be written are in doubt', async () => {
    const workspaceId = await givenWorkspace(stores);
    await insert(workspaceId, '/a');
    const lost = new driver.MongoNetworkError('connection closed');
    jest.spyOn(usageModel(), 'findOneAndUpdate').mockImplementationOnce((() => ({
      lean: () => Promise.reject(lost),
    })) as never);
    await mongo.part(UsageCounter).flush();
    await waitFor(async () => (await inDoubt(workspaceId)) !== null, 'the counts to be in doubt');
  });

  it('that wait are written when the server stops', async () => {
    const workspaceId = await givenWorkspace(stores);
    const other = await mongo.another();
    await insert(workspaceId, '/a', storesOf(other));
    await other.close();
    expect(await filesIn(workspaceId)).toBe(1);
  });

  it('that are taken anew have what is counted meanwhile', async () => {
    const workspaceId = await givenWorkspace(stores);
    await insert(workspaceId, '/a');
    const recount = mongo.part(UsageRecount) as unknown as { addUp: (...given: unknown[]) => Promise<void> };
    const addUp = recount.addUp.bind(recount);
    jest.spyOn(recount, 'addUp').mockImplementationOnce(async (...given) => {
      await addUp(...given);
      await insert(workspaceId, '/b');
      await mongo.part(UsageCounter).flush();
    });
    expect(await mongo.part(UsageRecount).count(workspaceId, 0)).toBe(true);
    expect(await filesIn(workspaceId)).toBe(2);
  });

  it('that are taken anew have a version once, also while it is moved', async () => {
    const file = aFile(await givenWorkspace(stores), '/a', 'text');
    const { workspaceId, head } = file;
    await stores.files.insert(file, bytesOf('text'), []);
    await mongo.part(UsageCounter).flush();
    const moving = {
      _id: JSON.stringify([workspaceId, file.id, '1']),
      workspaceId,
      fileId: file.id,
      ...head,
    };
    await in_(VERSIONS).insertOne(moving);
    expect(await mongo.part(UsageRecount).count(workspaceId, 0)).toBe(true);
    expect((await stores.usage.ofWorkspace(workspaceId)).versions).toBe(1);
    expect(await in_(ENTRIES).countDocuments({ workspaceId, 'fresh.number': 1 })).toBe(1);
  });

  it('that could not be taken anew are taken the next time', async () => {
    const workspaceId = await givenWorkspace(stores);
    await mongo.part(UsageRecount).ofThoseWhoAreGone(2);
    await in_(COUNTING).insertOne({ _id: 'stays', process: 'gone', workspaceId, until: 1 });
    const recount = mongo.part(UsageRecount);
    jest.spyOn(recount, 'count').mockResolvedValueOnce(false);
    await recount.ofThoseWhoAreGone(2);
    expect(await in_(COUNTING).findOne({ _id: 'stays' })).not.toBeNull();
    await recount.ofThoseWhoAreGone(2);
    expect(await in_(COUNTING).findOne({ _id: 'stays' })).toBeNull();
  });

  it('are counted again where a count came so late that a recount may have seen its write before', async () => {
    const workspaceId = await givenWorkspace(stores);
    const counter = mongo.part(UsageCounter);
    const recount = mongo.part(UsageRecount);
    const now = Date.now();
    // The write is made, its answer comes five seconds later.
    const slowly = (meanwhile: () => Promise<unknown>) => {
      const writes = mongo.part(EntryWrites);
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
    expect(await inDoubt(workspaceId)).toBeNull();
    slowly(() => recount.count(workspaceId, 0));
    await write('/late-and-recounted');
    expect(await stores.usage.ofWorkspace(workspaceId)).toMatchObject({ files: 3 });
    await waitFor(async () => (await inDoubt(workspaceId)) !== null, 'the counts to be in doubt');
    await recount.ofThoseWhoAreGone(2);
    expect(await stores.usage.ofWorkspace(workspaceId)).toMatchObject({ files: 2 });
    expect(await inDoubt(workspaceId)).toBeNull();
  });

  it('stay in doubt while the database is away, also of a process that then stops', async () => {
    const workspaceId = await givenWorkspace(stores);
    const other = await mongo.another();
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
    expect(await inDoubt(workspaceId)).toBeNull();
    await other.close();
    expect(await inDoubt(workspaceId)).not.toBeNull();
    await mongo.part(UsageRecount).ofThoseWhoAreGone(2);
    expect(await inDoubt(workspaceId)).toBeNull();
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
    await mongo.part(UsageRecount).ofThoseWhoAreGone(2);
    expect(await usage.ofWorkspace(workspaceId)).toEqual(all);
    const again = (await in_(USAGE).findOne({ _id: workspaceId }))!;
    expect(new Set(again.members as object[])).toEqual(new Set(counted.members as object[]));
    expect(await in_(COUNTING).findOne({ _id: 'left' })).toBeNull();
  });
});
