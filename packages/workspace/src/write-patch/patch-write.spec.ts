import * as disk from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { WALKS } from '../disk/walked-folder.sample.js';
import { PatchWrite } from './patch-write.js';
import { batchOf, insert, PatchedFolder } from './write-patch.sample.js';

/* A restarted process finds the files of a killed one. */
describe.each(WALKS)('a patched file after a crash, walking %s', (_how, hasHandlePaths) => {
  const folder = new PatchedFolder(hasHandlePaths);
  beforeEach(async () => {
    await folder.open();
    await folder.write('a', 'old\n');
  });
  afterEach(() => folder.close());

  const [tempName, backupName] = ['.patchbay-temp.tmp', '.patchbay-backup.tmp'];
  const writeOf = () => {
    const [patch] = batchOf({ docPath: 'repo/a', original: 'old\n', changes: [insert(1, 'new')] }).files;
    const { root, fs } = folder;
    const intent = {
      ...{
        root,
        path: 'a',
        docPath: 'repo/a',
        segments: ['a'],
        tempName,
        sha256: sha256('old\nnew\n'),
        sizeBytes: 8,
      },
      ...{ previousSha256: sha256('old\n'), patch: { filePatchId: 'f0', backupName } },
    };
    return new PatchWrite(fs, patch!, intent, 1024);
  };

  it('is staged again if its temp file is incomplete', async () => {
    await folder.write(tempName, 'ol');
    const write = writeOf();
    await write.stage();
    await write.commit();
    expect(await folder.read('a')).toBe('old\nnew\n');
  });

  it('copies the original again if the copy is incomplete, so that it can be restored', async () => {
    await folder.write(backupName, 'ol');
    const write = writeOf();
    await write.stage();
    await write.commit();
    expect([await folder.read('a'), await write.undo()]).toEqual(['old\nnew\n', true]);
    expect(await folder.read('a')).toBe('old\n');
    expect(await disk.readdir(join(folder.root))).toEqual(['a']);
  });
});
