import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@patchbay/client';
import { sha256 } from '@patchbay/protocol/hash';
import { ALL_SECRETS } from '../disk/secret-files.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { CloudView } from './cloud-view.js';
import { type Difference, Differences } from './differences.js';
import { FolderState } from './folder-state.js';

const [OLD, NEW] = ['before\n', 'by a call\n'] as const;

describe('a look at what the Cloud has of a folder', () => {
  let directory: string;
  beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'patchbay-view-'))));
  afterEach(() => rm(directory, { recursive: true }));

  it('judges by its list no file that a call has brought to both sides meanwhile', async () => {
    for (const name of ['a', 'b']) await writeFile(join(directory, `${name}.txt`), OLD);
    const roots = await WorkspaceRoots.open([{ directory, name: 'proj' }]);
    const pair = { url: 'http://one', workspaceId: 'w', directory, rootName: 'proj' };
    const state = FolderState.open(join(directory, '.home'), pair);
    for (const name of ['a', 'b']) state.noteBase(`proj/${name}.txt`, sha256(OLD));
    const list = async function* () {
      await writeFile(join(directory, 'a.txt'), NEW);
      state.noteBase('proj/a.txt', sha256(NEW));
      yield { docPath: 'proj/a.txt', path: '/proj/a.txt', sha256: sha256(OLD) };
      yield { docPath: 'proj/b.txt', path: '/proj/b.txt', sha256: sha256(NEW) };
    };
    const told: Difference[] = [];
    const files = { list } as unknown as WorkspaceFiles;
    const tell = (difference: Difference) => void told.push(difference);
    const seen = { files, roots, state, maxFileBytes: 1_000, exclude: [], secrets: ALL_SECRETS };
    await new CloudView(seen, new Differences(), tell).compareAll(new AbortController().signal);
    expect(told.map(({ docPath, kind }) => [docPath, kind])).toEqual([['proj/b.txt', 'behind']]);
  });
});
