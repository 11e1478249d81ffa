import { jest } from '@jest/globals';
import { getModelToken } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { sha256 } from '@patchbay/protocol/hash';
import { Blobs } from '../../src/storage/mongo/blobs.js';
import { type EntryDocument, ENTRIES } from '../../src/storage/mongo/file-collections.js';
import { OrphanSweep } from '../../src/storage/mongo/orphan-sweep.js';
import { TURN_TEXTS } from '../../src/storage/mongo/turn-collections.js';
import { turnKey } from '../../src/storage/mongo/turn-documents.js';
import { TurnTexts } from '../../src/storage/mongo/turn-texts.js';
import { TurnValues } from '../../src/storage/mongo/turn-values.js';
import { Versions } from '../../src/storage/mongo/versions.js';
import { aTurn, NOON } from '../../src/turns/state/turn.sample.js';
import { suiteFixture } from '../support/fixtures.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { aFile, bytesOf } from './file-records.js';
import { openMongoApp } from './mongo-app.js';
import { givenWorkspace } from './records.js';

const HOUR = 3_600_000;

describeOnMongo('a sweep on MongoDB', () => {
  const mongo = suiteFixture(() => openMongoApp());
  const stores = suiteFixture(() => mongo.stores);
  afterEach(() => jest.restoreAllMocks());

  describe('of bytes that nothing refers to', () => {
    const text = 'bytes that nothing refers to yet';
    const hash = sha256(text);
    let workspaceId: string;
    const put = () => stores.blobs.put({ workspaceId, userId: 'u' }, hash, bytesOf(text), NOON);
    const read = async () => (await stores.blobs.read(workspaceId, hash))?.toString() ?? null;
    const removeMarked = () => stores.blobs.removeMarked(NOON + HOUR, 9);
    beforeEach(async () => {
      workspaceId = await givenWorkspace(stores);
      await put();
      await stores.blobs.mark(NOON + 1, 9, NOON + 1);
    });

    it('keeps those that somebody has come for since it looked', async () => {
      jest.spyOn(mongo.part(Blobs), 'isReferred').mockImplementationOnce(async () => {
        await put();
        return false;
      });
      await removeMarked();
      expect(await read()).toBe(text);
    });

    it('keeps those of a file that was written late, after they were held and then marked', async () => {
      jest.spyOn(mongo.part(Blobs), 'hold').mockResolvedValueOnce(true);
      expect(await stores.files.insert(aFile(workspaceId, '/late', text), null, [])).toBe(true);
      await removeMarked();
      expect(await read()).toBe(text);
    });

    it('finds the version that refers to them while that is moved', async () => {
      const file = aFile(workspaceId, '/moving', text);
      await stores.files.insert(file, bytesOf(text), []);
      const entries = mongo.part<Model<EntryDocument>>(getModelToken(ENTRIES));
      const find = entries.findOne.bind(entries);
      jest.spyOn(entries, 'findOne').mockImplementationOnce(((...given: Parameters<typeof find>) => ({
        lean: async () => {
          await mongo.part(Versions).moveFresh(workspaceId, file.id, 99);
          return find(...given).lean();
        },
      })) as never);
      const blob = { workspaceId, sha256: hash } as Parameters<Blobs['isReferred']>[0];
      expect(await mongo.part(Blobs).isReferred(blob)).toBe(true);
    });
  });

  describe('of what crashes have left', () => {
    const round = (sweep: OrphanSweep) => (sweep as unknown as { round: () => Promise<void> }).round();

    it('removes texts that no turn came to have, once they are old', async () => {
      const turn = aTurn(await givenWorkspace(stores));
      const values = new TurnValues('orphan');
      await values.add('o'.repeat(20_000), 0);
      await mongo.part(TurnTexts).put(turnKey(turn), values);
      const left = () => mongo.in_(TURN_TEXTS).countDocuments({ turn: turnKey(turn) });
      const sweep = mongo.part(OrphanSweep);
      await round(sweep);
      expect(await left()).toBe(1);
      const now = Date.now();
      jest.spyOn(Date, 'now').mockReturnValue(now + 2 * HOUR);
      await round(sweep);
      expect(await left()).toBe(0);
    });

    it('goes on behind the bytes that it looked at the time before, and begins anew at the end', async () => {
      const look = jest.spyOn(mongo.part(Blobs), 'removeOrphanParts');
      look.mockResolvedValueOnce('so far').mockResolvedValueOnce(null);
      const sweep = mongo.part(OrphanSweep);
      for (let rounds = 0; rounds < 3; rounds += 1) await round(sweep);
      expect(look.mock.calls.map(([after]) => after)).toEqual(['', 'so far', '']);
    });
  });
});
