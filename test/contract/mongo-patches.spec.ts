import { jest } from '@jest/globals';
import { mongo as driver } from 'mongoose';
import { PARTS } from '../../src/storage/mongo/part-collections.js';
import { Parts } from '../../src/storage/mongo/parts.js';
import { PATCH_IDS, PATCHES } from '../../src/storage/mongo/patch-collections.js';
import { aTurn, NOON } from '../../src/turns/state/turn.sample.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { suiteFixture } from '../support/fixtures.js';
import { openMongoApp } from './mongo-app.js';
import { aLargeBatch } from './patch-records.js';
import { aWorkspace } from './records.js';

const FAR_BELOW_16_MB = 5 * 1024 * 1024;

describeOnMongo('a large batch on MongoDB', () => {
  const mongo = suiteFixture(() => openMongoApp());
  const patches = suiteFixture(() => mongo.stores.patches);
  const workspace = aWorkspace();
  const collectionsOfPatches = () => [PATCHES, PATCH_IDS, PARTS].map((name) => mongo.in_(name));
  beforeAll(() => mongo.stores.workspaces.insert(workspace));

  it('lies in documents that are each far below 16 MB', async () => {
    await patches.insert(aLargeBatch(aTurn(workspace.id)));
    for (const collection of collectionsOfPatches()) {
      const documents = await collection.find().toArray();
      expect(documents.length).toBeGreaterThan(0);
      const largest = Math.max(...documents.map((document) => driver.BSON.calculateObjectSize(document)));
      expect(largest).toBeLessThan(FAR_BELOW_16_MB);
    }
  });

  it('whose removal a crash broke off goes with the sweep whole', async () => {
    while (await patches.removeOrphans(NOON + 1, 1));
    const record = aLargeBatch(aTurn(workspace.id));
    await patches.insert(record);
    jest.spyOn(mongo.part(Parts), 'remove').mockRejectedValueOnce(new Error('killed'));
    await expect(patches.remove(record.workspaceId, record.batchId)).rejects.toThrow('killed');
    while (await patches.removeOrphans(NOON + 1, 1));
    for (const collection of collectionsOfPatches()) expect(await collection.countDocuments()).toBe(0);
  });

  it('that a crash left half written is not there, and goes with the sweep whole', async () => {
    const record = aLargeBatch(aTurn(workspace.id));
    const { workspaceId, batchId, batch } = record;
    await patches.insert(record);
    await mongo.in_(PATCHES).updateMany({}, { $set: { whole: false } });
    expect(await patches.byId(workspaceId, batchId)).toBeNull();
    expect(await patches.ofFilePatch(workspaceId, batch.files[0]!.filePatchId!)).toBeNull();
    expect(await patches.docPathsOf(workspaceId, batchId)).toEqual([]);
    while (await patches.removeOrphans(NOON + 1, 1));
    for (const collection of collectionsOfPatches()) expect(await collection.countDocuments()).toBe(0);
  });
});
