import { constants } from 'node:fs';
import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { CreatedIn } from '../create-file/create-file.sample.js';
import { inlineFileSystem } from '../sync/inline-file-system.js';
import { deleteFile, type Placement, placeFiles, pullTempName, setExecutable } from '../sync/place-file.js';
import { renameFile } from '../sync/rename-file.js';
import { PatchWrite } from '../write-patch/patch-write.js';
import { batchOf, insert, PatchedFolder, statuses } from '../write-patch/write-patch.sample.js';
import { ensureDirectory } from './open-directory.js';
import { RecordingDisk } from './recording-disk.sample.js';
import { errno, WALKS } from './walked-folder.sample.js';

/* A reported write survives a power failure: the content is synced before the rename, the folder after it. */

describe.each(WALKS)('durability of a finished write, walking %s,', (_how, hasHandlePaths) => {
  let recording: RecordingDisk;
  beforeEach(() => void (recording = new RecordingDisk()));
  const created = new CreatedIn(hasHandlePaths);
  const patched = new PatchedFolder(hasHandlePaths);
  beforeEach(() => Promise.all([created.open(), patched.open()]));
  afterEach(() => Promise.all([created.close(), patched.close()]));

  it('syncs each parent of created folders', async () => {
    const walked = await ensureDirectory(recording.over(created.fs), created.root, ['a', 'b']);
    await walked.close();
    expect(recording.lost).toEqual([]);
    expect(recording.synced).toEqual([created.root, join(created.root, 'a')]);
  });

  it('covers a created file in created folders', async () => {
    const made = await created.create({ path: 'root/a/b/c.txt', content: 'x\n' }, recording.over(created.fs));
    expect(made.success).toBe(true);
    expect(recording.lost).toEqual([]);
    expect(recording.synced.at(-1)).toBe(join(created.root, 'a/b'));
  });

  it('covers a created file on a disk without hard links', async () => {
    const fs = { ...created.fs, link: () => Promise.reject(errno('EPERM')) };
    const made = await created.create({ path: 'root/c.txt', content: 'x\n' }, recording.over(fs));
    expect([made.created, recording.lost, await created.read('c.txt')]).toEqual([true, [], 'x\n']);
  });

  it('covers a replaced file', async () => {
    await created.write('c.txt', 'old\n');
    const args = { path: 'root/c.txt', content: 'x\n', overwrite: true };
    const made = await created.create(args, recording.over(created.fs));
    expect([made.success, recording.lost]).toEqual([true, []]);
    expect(recording.synced.at(-1)).toBe(created.root);
  });

  const batch = () =>
    batchOf(
      { docPath: 'repo/a/one', original: 'old\n', changes: [insert(1, 'new')] },
      { docPath: 'repo/b/two', original: 'old\n', changes: [insert(1, 'new')] },
    );

  it('covers all files of a batch', async () => {
    for (const path of ['a/one', 'b/two']) await patched.write(path, 'old\n');
    const result = await patched.patch(batch(), { faults: recording.over(patched.fs) });
    expect([statuses(result), recording.lost]).toEqual([['applied', 'applied'], []]);
  });

  it('covers a batch that was rolled back', async () => {
    for (const path of ['a/one', 'b/two']) await patched.write(path, 'old\n');
    let placed = 0;
    const fs = {
      ...patched.fs,
      rename: async (from: string, to: string): Promise<void> => {
        if (to.endsWith('two') && (placed += 1) === 1) throw errno('EIO');
        await patched.fs.rename(from, to);
      },
    };
    const result = await patched.patch(batch(), { faults: recording.over(fs) });
    expect([result.success, recording.lost]).toEqual([false, []]);
    expect([await patched.read('a/one'), await patched.read('b/two')]).toEqual(['old\n', 'old\n']);
  });

  it('covers a restored original', async () => {
    await patched.write('a', 'old\n');
    const { files } = batchOf({ docPath: 'repo/a', original: 'old\n', changes: [insert(1, 'new')] });
    const names = { tempName: '.patchbay-temp.tmp', backupName: '.patchbay-backup.tmp' };
    const intent = {
      ...{ root: patched.root, path: 'a', docPath: 'repo/a', segments: ['a'], sizeBytes: 8 },
      ...{ tempName: names.tempName },
      ...{ sha256: sha256('old\nnew\n'), previousSha256: sha256('old\n') },
      patch: { filePatchId: 'f0', backupName: names.backupName },
    };
    const write = new PatchWrite(recording.over(patched.fs), files[0]!, intent, 1024);
    await write.stage();
    await write.commit();
    expect(recording.lost).toEqual([]);
    expect([await write.undo(), await patched.read('a')]).toEqual([true, 'old\n']);
    expect(recording.lost).toEqual([]);
  });
});

describe('durability of a finished pull', () => {
  const plain = { ...inlineFileSystem };
  let recording: RecordingDisk;
  let root: string;
  beforeEach(async () => {
    root = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-durable-')));
    recording = new RecordingDisk();
    Object.assign(inlineFileSystem, recording.over(plain));
  });
  afterEach(async () => {
    Object.assign(inlineFileSystem, plain);
    await disk.rm(root, { recursive: true });
  });

  const file = (name: string, change: Partial<Placement> = {}): Placement => ({
    ...{ name, bytes: Buffer.from(`${name}\n`), replaces: null, keep: false, isExecutable: null },
    ...{ tempName: pullTempName('01234567'), ...change },
  });

  it('covers files in new folders', async () => {
    expect((await placeFiles(root, ['a', 'b'], [file('one'), file('two')])).size).toBe(0);
    expect(recording.lost).toEqual([]);
    expect(recording.synced.at(-1)).toBe(join(root, 'a/b'));
  });

  it('covers a replaced file and the content that was kept', async () => {
    await disk.writeFile(join(root, 'one'), 'old');
    const replaced = file('one', { replaces: sha256('old'), keep: true });
    expect((await placeFiles(root, [], [replaced, file('taken', { replaces: sha256('gone') })])).size).toBe(
      1,
    );
    expect(recording.lost).toEqual([]);
    expect((await disk.readdir(root)).sort()).toEqual(['one', 'one.patchbay-kept']);
  });

  it.each([[false], [true]])('covers a deleted file, kept: %s', async (keep) => {
    await disk.writeFile(join(root, 'one'), 'old');
    await deleteFile(root, ['one'], { sha256: sha256('old'), keep });
    expect(recording.lost).toEqual([]);
    expect(await disk.readdir(root)).toEqual(keep ? ['one.patchbay-kept'] : []);
  });

  it('covers a renamed file in the same and in another folder', async () => {
    await disk.mkdir(join(root, 'Lib'));
    for (const name of ['Lib/one', 'Lib/two']) await disk.writeFile(join(root, name), name);
    await renameFile(root, ['Lib', 'one'], ['Lib', 'One'], () => false);
    await renameFile(root, ['Lib', 'two'], ['lib', 'two'], () => false);
    expect(recording.lost).toEqual([]);
    await renameFile(root, ['Lib', 'One'], ['LIB', 'One'], () => true);
    expect([recording.lost, (await disk.readdir(root)).sort()]).toEqual([[], ['LIB', 'lib']]);
  });

  it('covers the mode of new, replaced and unchanged files', async () => {
    await disk.writeFile(join(root, 'one'), 'old');
    const replaced = file('one', { replaces: sha256('old'), isExecutable: true });
    expect((await placeFiles(root, [], [replaced, file('two', { isExecutable: true })])).size).toBe(0);
    expect(recording.lost).toEqual([]);
    await setExecutable(root, ['two'], { sha256: sha256('two\n'), isExecutable: false });
    expect([recording.lost, recording.synced.at(-1)]).toEqual([[], join(root, 'two')]);
    const isExecutable = async (name: string) => ((await disk.stat(join(root, name))).mode & 0o111) !== 0;
    expect([await isExecutable('one'), await isExecutable('two')]).toEqual([true, false]);
  });

  it('uses the fsync of the system', async () => {
    const opened = await plain.open(root, constants.O_RDONLY);
    await opened.sync();
    await opened.close();
    await expect(opened.sync()).rejects.toMatchObject({ code: 'EBADF' });
  });
});
