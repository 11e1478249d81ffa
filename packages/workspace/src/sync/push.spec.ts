import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@patchbay/client';
import { SecretFiles } from '../disk/secret-files.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { FolderState } from './folder-state.js';
import { PathClaims } from './path-claims.js';
import { silent } from './progress.js';
import { pushFolder } from './push.js';

/** It claims a file, and the push is ended right then. */
class EndingClaims extends PathClaims {
  readonly ending = new AbortController();

  override tryClaim(docPath: string): boolean {
    this.ending.abort(new Error('ended'));
    return super.tryClaim(docPath);
  }
}

describe('a push that is ended', () => {
  let directory: string;
  let home: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-push-'));
    home = await mkdtemp(join(tmpdir(), 'patchbay-push-home-'));
  });
  afterEach(() => Promise.all([directory, home].map((path) => rm(path, { recursive: true }))));

  it('leaves every file that it had in hand to the calls that write it', async () => {
    for (const name of ['a', 'b']) await writeFile(join(directory, `${name}.txt`), name);
    const roots = await WorkspaceRoots.open([{ directory, name: 'proj' }]);
    const pair = { url: 'http://one', workspaceId: 'w', directory, rootName: 'proj' };
    const claims = new EndingClaims();
    const push = pushFolder({
      ...{ files: {} as WorkspaceFiles, roots, state: FolderState.open(home, pair), maxFileBytes: 1_000 },
      ...{ exclude: [], secrets: new SecretFiles(), progress: silent, claims, signal: claims.ending.signal },
      ...{ force: false, delete: false, dryRun: false },
    });
    await expect(push).rejects.toThrow('ended');
    expect(['proj/a.txt', 'proj/b.txt'].map((path) => claims.tryClaim(path))).toEqual([true, true]);
  });
});
