import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { sha256 } from '@patchbay/protocol/hash';
import { ChangedMeanwhile, placeFiles, pullTempName } from './place-file.js';

describe('a pull that replaces a file', () => {
  let root: string;
  beforeEach(async () => void (root = await mkdtemp(join(tmpdir(), 'patchbay-place-'))));
  afterEach(() => rm(root, { recursive: true }));

  it('keeps a text that was saved during staging, and leaves no temp file', async () => {
    const [place, tempName] = [join(root, 'a.txt'), pullTempName('01234567')];
    await writeFile(place, 'both had\n');
    const [bytes, replaces] = [Buffer.from('from the Cloud\n'), sha256('both had\n')];
    const placing = placeFiles(
      root,
      [],
      [{ name: 'a.txt', bytes, replaces, keep: false, isExecutable: null, tempName }],
    );
    // From here on staging waits for the disk, in a later turn of the event loop.
    while (!existsSync(join(root, tempName))) await setImmediate();
    writeFileSync(place, 'saved meanwhile\n');
    expect([...(await placing).values()]).toEqual([expect.any(ChangedMeanwhile)]);
    expect(await readFile(place, 'utf8')).toBe('saved meanwhile\n');
    expect(await readdir(root)).toEqual(['a.txt']);
  });
});
