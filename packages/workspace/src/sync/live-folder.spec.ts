import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@patchbay/client';
import type { FileChange } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { SecretFiles } from '../disk/secret-files.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { FolderState } from './folder-state.js';
import { LiveFolder } from './live-folder.js';

const [HERE, THERE] = ['here\n', 'there\n'].map((text) => sha256(text));

describe('a live folder', () => {
  let base: string;
  let home: string;
  let folder: LiveFolder;
  let looks: number;
  let deleted: string[];
  let now: number;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'patchbay-live-'));
    home = await mkdtemp(join(tmpdir(), 'patchbay-live-home-'));
    await writeFile(join(base, 'a.txt'), 'here\n');
    const roots = await WorkspaceRoots.open([{ directory: base, name: 'proj' }]);
    const pair = { url: 'http://one', workspaceId: 'w', directory: base, rootName: 'proj' };
    const state = FolderState.open(home, pair);
    state.noteBase('proj/a.txt', HERE!);
    [looks, now] = [0, 0];
    // Only the Cloud is faked: the first look at all of it fails.
    const list = async function* () {
      await Promise.resolve();
      if (++looks === 1) throw new Error('no answer');
      yield { docPath: 'proj/a.txt', path: '/proj/a.txt', sha256: THERE };
    };
    deleted = [];
    const commit = (changes: readonly FileChange[]) => {
      deleted.push(...changes.filter((change) => 'deleted' in change).map(({ path }) => path));
      return Promise.resolve(changes.map(() => ({})));
    };
    const files = { list, commit, read: () => Promise.resolve(null) } as unknown as WorkspaceFiles;
    folder = new LiveFolder({
      ...{ files, roots, state, maxFileBytes: 1_000, exclude: [], secrets: new SecretFiles() },
      ...{
        putFile: () => Promise.resolve({ ok: true, versionId: 'v', fileId: 'f', path: '/proj/a.txt' }),
        now: () => now,
      },
    });
  });
  afterEach(async () => {
    await folder.stop();
    await rm(base, { recursive: true });
    await rm(home, { recursive: true });
  });

  it('deletes nothing in the Cloud where all that it had is gone at once, and what is gone beside others', async () => {
    await rm(join(base, 'a.txt'));
    await folder.uploadChanged(['proj/a.txt']);
    expect(deleted).toEqual([]);
    now += 2_000;
    await folder.uploadChanged(['proj/a.txt']);
    expect(deleted).toEqual([]);
    await writeFile(join(base, 'b.txt'), 'left\n');
    await folder.uploadChanged(['proj/a.txt']);
    expect(deleted).toEqual(['proj/a.txt']);
  });

  it('looks at the Cloud again after a look that failed, whatever single changes are told meanwhile', async () => {
    folder.start({ watch: false });
    for (let n = 0; n < 30 && looks < 2; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      folder.filesChanged([{ docPath: 'proj/a.txt', path: '/proj/a.txt', sha256: THERE! }]);
    }
    expect(looks).toBe(2);
  }, 15_000);
});
