import fc from 'fast-check';
import type { FileRecord, FileStore } from '../../src/storage/ports/files.store.js';
import { describeContract, type Stores } from './backends.js';
import { aFile, aFolder, bytesOf, moved } from './file-records.js';
import { inEveryOrder, inSteps } from './interleavings.js';
import { withOtherMethods } from './other-methods.js';
import { checkReads } from './reads-well.js';
import { givenWorkspace } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

const PATHS = ['/a', '/A', '/a/b', '/A/b/c', '/a/B/c/d', '/a/b-c', '/x/y', '/x/y/z'];
const docPathOf = (path: string): string => path.slice(1).toLowerCase();
const DOC_PATHS = [...new Set(PATHS.map(docPathOf))];

/** What somebody does at a path, whatever is there. */
interface Deed {
  does: 'write' | 'make' | 'delete' | 'remove' | 'move' | 'restore';
  path: string;
  to: string;
}

const DEED: fc.Arbitrary<Deed> = fc.record({
  does: fc.constantFrom('write', 'make', 'delete', 'remove', 'move', 'restore'),
  path: fc.constantFrom(...PATHS),
  to: fc.constantFrom(...PATHS),
});

/** Does it to what is read first; null where there is nothing to do it to. */
async function perform(
  files: FileStore,
  workspaceId: string,
  { does, path, to }: Deed,
): Promise<boolean | null> {
  const docPath = docPathOf(path);
  const save = (file: FileRecord, changes: Partial<FileRecord>) =>
    files.save(moved(file, changes), file.revision, []);
  const entry = await files.at(workspaceId, docPath);
  const file = entry?.kind === 'file' ? entry : null;
  if (does === 'write') return files.insert(aFile(workspaceId, path), bytesOf(path), []);
  if (does === 'make') return files.insertFolder(aFolder(workspaceId, path), []);
  if (does === 'delete') return file && save(file, { deletedAt: NOON });
  if (does === 'move') return file && save(file, { path: to, docPath: docPathOf(to) });
  if (does === 'restore') {
    const gone = await files.lastDeletedAt(workspaceId, docPath);
    return gone && save(gone, { deletedAt: null });
  }
  if (entry?.kind !== 'folder' || entry.id === null) return null;
  return files.removeFolder({ ...entry, id: entry.id, holder: 'me' }, NOON, []);
}

/** docPaths at which a file or a folder that was made is live. */
async function takenIn(files: FileStore, workspaceId: string): Promise<Set<string>> {
  const taken = new Set<string>();
  for (const docPath of DOC_PATHS) {
    const entry = await files.at(workspaceId, docPath);
    if (entry !== null && entry.id !== null) taken.add(docPath);
  }
  return taken;
}

/** Every order of the items. */
function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

/** A file and its folders are there, whichever of them is written first. */
async function comeInAnyOrder(stores: Stores): Promise<void> {
  const paths = ['/p', '/p/q', '/p/q/r.txt', '/p/q/s.txt'];
  for (const order of permutations(paths)) {
    const workspaceId = await givenWorkspace(stores);
    for (const path of order) {
      const write = path.endsWith('.txt')
        ? stores.files.insert(aFile(workspaceId, path), bytesOf(path), [])
        : stores.files.insertFolder(aFolder(workspaceId, path), []);
      expect([order, await write]).toEqual([order, true]);
      await checkReads(stores.files, workspaceId, paths.map(docPathOf));
    }
  }
}

/** A file that is written into a folder while that is removed is there, and so is the folder, for as long. */
async function staysWithItsFile(stores: Stores): Promise<void> {
  await inEveryOrder(async () => {
    const workspaceId = await givenWorkspace(stores);
    const folder = aFolder(workspaceId, '/docs');
    const file = aFile(workspaceId, '/docs/a');
    await stores.files.insertFolder(folder, []);
    return {
      actors: [
        async (gate) => {
          const { files } = inSteps(stores, gate);
          if ((await files.at(workspaceId, folder.docPath)) === null) await files.insertFolder(folder, []);
          expect(await files.insert(file, bytesOf(file.path), [])).toBe(true);
        },
        async (gate) => {
          const { files } = inSteps(stores, gate);
          const isEmpty = (await files.childrenOf(workspaceId, folder.docPath, null, 1)).length === 0;
          if (isEmpty) await files.removeFolder(folder, NOON, []);
        },
      ],
      check: async () => {
        const { files } = stores;
        await checkReads(files, workspaceId, [file.docPath]);
        expect(await files.childrenOf(workspaceId, folder.docPath, null, 9)).toHaveLength(1);
        const left = await files.at(workspaceId, folder.docPath);
        await files.save(moved(file, { deletedAt: NOON }), 1, []);
        // It goes with its file only where it was removed.
        expect(await files.at(workspaceId, folder.docPath)).toEqual(left?.id === null ? null : folder);
      },
    };
  });
}

describeContract('files and folders that meet', (opened) => {
  const files = () => opened().stores.files;

  it('come in any order', () => comeInAnyOrder(opened().stores));

  it('are a folder that stays with its file, whoever removes it meanwhile', () =>
    staysWithItsFile(opened().stores));

  it('read well after everything that one after the other does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(DEED, { maxLength: 12 }), async (deeds) => {
        const workspaceId = await givenWorkspace(opened().stores);
        for (const deed of deeds) {
          const taken = await takenIn(files(), workspaceId);
          const done = await perform(files(), workspaceId, deed);
          const goal = docPathOf(deed.does === 'move' ? deed.to : deed.path);
          const isFree = !taken.has(goal) || (deed.does === 'move' && goal === docPathOf(deed.path));
          const needsRoom = ['write', 'make', 'move', 'restore'].includes(deed.does);
          if (done !== null) expect([deed, done]).toEqual([deed, !needsRoom || isFree]);
          await checkReads(files(), workspaceId, DOC_PATHS);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('read well after what many do at the same moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(DEED, { minLength: 2, maxLength: 5 }), { maxLength: 4 }),
        async (rounds) => {
          const workspaceId = await givenWorkspace(opened().stores);
          for (const deeds of rounds) {
            await Promise.all(deeds.map((deed) => perform(files(), workspaceId, deed)));
            await checkReads(files(), workspaceId, DOC_PATHS);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  describe('would be found out in a store', () => {
    const storesWith = (others: Partial<FileStore>): Stores => ({
      ...opened().stores,
      files: withOtherMethods(files(), others),
    });
    const isMade = async (workspaceId: string, docPath: string): Promise<boolean> => {
      const entry = docPath === '' ? null : await files().at(workspaceId, docPath);
      return docPath === '' || (entry !== null && entry.id !== null);
    };
    const folderOf = (docPath: string) => docPath.slice(0, Math.max(0, docPath.lastIndexOf('/')));

    it('that demands the folder of a file', async () => {
      const strict = storesWith({
        insert: async (file, bytes, events) =>
          (await isMade(file.workspaceId, folderOf(file.docPath))) && files().insert(file, bytes, events),
      });
      await expect(comeInAnyOrder(strict)).rejects.toThrow();
    });

    it('that lists what was made, and nothing else', async () => {
      const forgetful = storesWith({
        childrenOf: async (workspaceId, folder, after, limit) => {
          const found = await files().childrenOf(workspaceId, folder, after, limit);
          const made = await Promise.all(found.map(({ docPath }) => isMade(workspaceId, docPath)));
          return found.filter((_, at) => made[at]);
        },
      });
      await expect(staysWithItsFile(forgetful)).rejects.toThrow();
    });
  });
});
