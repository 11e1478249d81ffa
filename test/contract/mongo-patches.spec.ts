import { jest } from '@jest/globals';
import mongoose, { type Connection, mongo } from 'mongoose';
import { CONNECT_OPTIONS } from '../../src/storage/mongo/database.js';
import { MongoStorageModule } from '../../src/storage/mongo/mongo.module.js';
import { PARTS } from '../../src/storage/mongo/part-collections.js';
import { Parts } from '../../src/storage/mongo/parts.js';
import { PATCH_IDS, PATCHES } from '../../src/storage/mongo/patch-collections.js';
import { PatchStore } from '../../src/storage/ports/patches.store.js';
import { WorkspaceStore } from '../../src/storage/ports/workspaces.store.js';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { aTurn, NOON } from '../../src/turns/state/turn.sample.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { aLargeBatch } from './patch-records.js';
import { aWorkspace } from './records.js';

const FAR_BELOW_16_MB = 5 * 1024 * 1024;

describeOnMongo('a large batch on MongoDB', () => {
  let drop: () => Promise<void>;
  let connection: Connection;
  let app: INestApplicationContext;
  let patches: PatchStore;
  const workspace = aWorkspace();
  const collectionsOfPatches = () =>
    [PATCHES, PATCH_IDS, PARTS].map((name) => connection.db!.collection(name));

  beforeAll(async () => {
    const own = aDatabaseOn(MONGO_SERVER!);
    ({ drop } = own);
    connection = await mongoose.createConnection(own.uri, CONNECT_OPTIONS).asPromise();
    app = await NestFactory.createApplicationContext(MongoStorageModule.on(own.uri), { logger: false });
    await app.get(WorkspaceStore, { strict: false }).insert(workspace);
    patches = app.get(PatchStore, { strict: false });
  });
  afterAll(async () => {
    await app.close();
    await connection.close();
    await drop();
  });

  it('lies in documents that are each far below 16 MB', async () => {
    await patches.insert(aLargeBatch(aTurn(workspace.id)));
    for (const collection of collectionsOfPatches()) {
      const documents = await collection.find().toArray();
      expect(documents.length).toBeGreaterThan(0);
      const largest = Math.max(...documents.map((document) => mongo.BSON.calculateObjectSize(document)));
      expect(largest).toBeLessThan(FAR_BELOW_16_MB);
    }
  });

  it('whose removal a crash broke off goes with the sweep whole', async () => {
    while (await patches.removeOrphans(NOON + 1, 1));
    const record = aLargeBatch(aTurn(workspace.id));
    await patches.insert(record);
    jest.spyOn(app.get(Parts, { strict: false }), 'remove').mockRejectedValueOnce(new Error('killed'));
    await expect(patches.remove(record.workspaceId, record.batchId)).rejects.toThrow('killed');
    while (await patches.removeOrphans(NOON + 1, 1));
    for (const collection of collectionsOfPatches()) expect(await collection.countDocuments()).toBe(0);
  });

  it('that a crash left half written is not there, and goes with the sweep whole', async () => {
    const record = aLargeBatch(aTurn(workspace.id));
    const { workspaceId, batchId, batch } = record;
    await patches.insert(record);
    await connection.db!.collection(PATCHES).updateMany({}, { $set: { whole: false } });
    expect(await patches.byId(workspaceId, batchId)).toBeNull();
    expect(await patches.ofFilePatch(workspaceId, batch.files[0]!.filePatchId!)).toBeNull();
    expect(await patches.docPathsOf(workspaceId, batchId)).toEqual([]);
    while (await patches.removeOrphans(NOON + 1, 1));
    for (const collection of collectionsOfPatches()) expect(await collection.countDocuments()).toBe(0);
  });
});
