import type { FileStore } from '../../src/storage/ports/files.store.js';
import { describeContract, type Stores } from './backends.js';
import { aFile, bytesOf, givenFile, moved, withHead } from './file-records.js';
import { type Gate, inEveryOrder, inSteps } from './interleavings.js';
import { withOtherMethods } from './other-methods.js';
import { anEvent, givenWorkspace, trailOf } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

type StoresAt = (gate: Gate) => Stores;

/** Of two who write on what both have read, one wins; the other one changes nothing and is told so. */
async function oneWins(stores: Stores, storesAt: StoresAt): Promise<void> {
  const { files } = stores;
  await inEveryOrder(async () => {
    const workspaceId = await givenWorkspace(stores);
    const file = await givenFile(stores, workspaceId, '/a', 'base');
    const rivals = ['one', 'two'].map((text) => withHead(file, text));
    const taken: boolean[] = [];
    return {
      actors: rivals.map((next, at) => async (gate: Gate) => {
        const { files: mine } = storesAt(gate);
        taken[at] = await mine.commitVersion(next, 1, bytesOf(next.head.id), [anEvent()]);
      }),
      check: async () => {
        expect(taken.filter(Boolean)).toHaveLength(1);
        expect(await files.at(workspaceId, 'a')).toEqual(rivals[taken.indexOf(true)]);
        expect(await files.versionsOf(workspaceId, file.id, null, 9)).toHaveLength(2);
        expect(await trailOf(stores, workspaceId)).toHaveLength(1);
      },
    };
  });
}

/** Of two who want one path, one gets it: a new file, and one that moves there. */
async function oneGetsThePath(stores: Stores, storesAt: StoresAt): Promise<void> {
  const { files } = stores;
  await inEveryOrder(async () => {
    const workspaceId = await givenWorkspace(stores);
    const moving = await givenFile(stores, workspaceId, '/from');
    const there = moved(moving, { path: '/Goal', docPath: 'goal' });
    const fresh = aFile(workspaceId, '/goal');
    const taken: boolean[] = [];
    return {
      actors: [
        async (gate) => void (taken[0] = await storesAt(gate).files.save(there, 1, [anEvent()])),
        async (gate) =>
          void (taken[1] = await storesAt(gate).files.insert(fresh, bytesOf('/goal'), [anEvent()])),
      ],
      check: async () => {
        expect(taken.filter(Boolean)).toHaveLength(1);
        expect(await files.at(workspaceId, 'goal')).toEqual(taken[0] ? there : fresh);
        expect(await files.at(workspaceId, 'from')).toEqual(taken[0] ? null : moving);
        expect(await trailOf(stores, workspaceId)).toHaveLength(1);
      },
    };
  });
}

describeContract('files that meet', (opened) => {
  const directly: StoresAt = (gate) => inSteps(opened().stores, gate);

  it('go on from one head to one next head', () => oneWins(opened().stores, directly));

  it('have a path each', () => oneGetsThePath(opened().stores, directly));

  describe('would be found out in a store', () => {
    const storesWith = (others: (files: FileStore, gate: Gate) => Partial<FileStore>): StoresAt => {
      const { stores } = opened();
      const { files } = stores;
      return (gate) => ({ ...stores, files: withOtherMethods(files, others(files, gate)) });
    };

    it('that compares first and sets then, what the head is', async () => {
      const careless = storesWith((files, gate) => ({
        async commitVersion(file, expectedRevision, bytes, events) {
          await gate();
          const read = await files.byId(file.workspaceId, file.id);
          if (read?.revision !== expectedRevision) return false;
          await gate();
          const now = (await files.byId(file.workspaceId, file.id))!;
          const head = { ...file.head, number: now.lastNumber + 1 };
          const next = { ...file, head, lastNumber: head.number, revision: now.revision + 1 };
          return files.commitVersion(next, now.revision, bytes, events);
        },
      }));
      await expect(oneWins(opened().stores, careless)).rejects.toThrow('In the order');
    });

    it('that compares first and sets then, what is at a path', async () => {
      const careless = storesWith((files, gate) => ({
        async insert(file, bytes, events) {
          await gate();
          if ((await files.at(file.workspaceId, file.docPath)) !== null) return false;
          await gate();
          const inTheWay = await files.at(file.workspaceId, file.docPath);
          if (inTheWay?.kind === 'file') {
            await files.save(moved(inTheWay, { deletedAt: NOON }), inTheWay.revision, []);
          }
          return files.insert(file, bytes, events);
        },
        async save(file, expectedRevision, events) {
          await gate();
          return files.save(file, expectedRevision, events);
        },
      }));
      await expect(oneGetsThePath(opened().stores, careless)).rejects.toThrow('In the order');
    });
  });
});
