import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { getModelToken } from '@nestjs/mongoose';
import { type Model, mongo as driver } from 'mongoose';
import { USAGE, type UsageDocument } from '../../src/storage/mongo/usage-collections.js';
import { UsageCounter } from '../../src/storage/mongo/usage-counter.js';
import { suiteFixture } from '../support/fixtures.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { storesOf } from './backends.js';
import { aFile, bytesOf } from './file-records.js';
import { openMongoApp } from './mongo-app.js';
import { givenWorkspace } from './records.js';

describeOnMongo('counts on MongoDB', () => {
  const mongo = suiteFixture(() => openMongoApp());
  const stores = suiteFixture(() => mongo.stores);
  afterEach(() => jest.restoreAllMocks());

  const in_ = (name: string) => mongo.in_(name);
  const usageModel = () => mongo.part<Model<UsageDocument>>(getModelToken(USAGE));
  const insert = (workspaceId: string, path: string, of = stores) =>
    of.files.insert(aFile(workspaceId, path, 'text', { holder: 'ada' }), bytesOf('text'), []);
  const filesIn = async (workspaceId: string) => (await stores.usage.ofWorkspace(workspaceId)).files;

  it('list a user once when two servers count for them', async () => {
    const workspaceId = await givenWorkspace(stores);
    const other = await mongo.another();
    const update = usageModel().updateOne.bind(usageModel());
    // It has looked for the user when the other server comes to count for them.
    jest.spyOn(usageModel(), 'updateOne').mockImplementationOnce((async (
      ...given: Parameters<typeof update>
    ) => {
      const done = await update(...given);
      await insert(workspaceId, '/b', storesOf(other));
      await other.get(UsageCounter, { strict: false }).flush();
      return done;
    }) as never);
    await insert(workspaceId, '/a');
    await mongo.part(UsageCounter).flush();
    const { members } = (await in_(USAGE).findOne({ _id: workspaceId })) as unknown as UsageDocument;
    expect(members.filter(({ userId }) => userId === 'ada')).toMatchObject([{ files: 2 }]);
    await other.close();
  });

  it('that could not be written are lost and logged, and stop nothing', async () => {
    const workspaceId = await givenWorkspace(stores);
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await insert(workspaceId, '/a');
    const lost = new driver.MongoNetworkError('connection closed');
    jest.spyOn(usageModel(), 'updateOne').mockImplementationOnce((() => Promise.reject(lost)) as never);
    await mongo.part(UsageCounter).flush();
    expect(warned.mock.calls.flat()).toContainEqual(expect.stringContaining('check --repair'));
    await insert(workspaceId, '/b');
    expect(await filesIn(workspaceId)).toBe(1);
  });

  it('that are pending are written when the server stops', async () => {
    const workspaceId = await givenWorkspace(stores);
    const other = await mongo.another();
    await insert(workspaceId, '/a', storesOf(other));
    await other.close();
    expect(await filesIn(workspaceId)).toBe(1);
  });
});
