import { mkdtemp, rm } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@patchbay/client';
import type { FileChange } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { SecretFiles } from '../disk/secret-files.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { FolderState } from './folder-state.js';
import { PathClaims } from './path-claims.js';
import { silent } from './progress.js';
import { deleteInCloud, findDeleted } from './push-deletions.js';
import { emptyReport } from './sync-report.js';

const [MADE_ANEW, GONE] = ['proj/a.txt', 'proj/b.txt'];
const BASE = sha256('what both sides had\n');

describe('a push of what is gone from a folder', () => {
  let directory: string;
  beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'patchbay-gone-'))));
  afterEach(() => rm(directory, { recursive: true }));

  it('deletes nothing in the Cloud that a call has made anew before the push has the file in hand', async () => {
    const roots = await WorkspaceRoots.open([{ directory, name: 'proj' }]);
    const pair = { url: 'http://one', workspaceId: 'w', directory, rootName: 'proj' };
    const state = FolderState.open(join(directory, '.home'), pair);
    const asked: string[] = [];
    const commit = (changes: readonly FileChange[]) => {
      asked.push(...changes.map(({ path }) => path));
      return Promise.resolve(changes.map(() => ({})));
    };
    const sync = {
      ...{ files: { commit } as unknown as WorkspaceFiles, roots, state, maxFileBytes: 1_000, exclude: [] },
      ...{ secrets: new SecretFiles(), force: false, delete: true, dryRun: false, progress: silent },
      claims: new PathClaims(),
    };
    const report = emptyReport();
    const gone = await findDeleted(sync, [MADE_ANEW, GONE], () => BASE);
    expect([...gone.keys()]).toEqual([MADE_ANEW, GONE]);
    writeFileSync(join(directory, 'a.txt'), 'by a call\n');
    await deleteInCloud(sync, gone, report);
    expect(asked).toEqual([GONE]);
    expect(report).toMatchObject({ deleted: 1, conflicts: [], faults: [] });
  });
});
