import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PatchIntent } from '@patchbay/client/relay';
import type { FilePut } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { FolderLedger } from '../disk/folder-ledger.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { sendFile } from './send-file.js';
import { uploadWritten } from './upload-written.js';

const file: FilePut = {
  ...{
    docPath: 'repo/a',
    path: '/Repo/A',
    content: Buffer.from('new'),
    sha256: 'new',
    baseSha256: 'replaced',
  },
};

describe('the upload of a written file', () => {
  const sent: FilePut[] = [];
  const steps: string[] = [];
  const context = {
    putFile: async (put: FilePut) => {
      sent.push(put);
      steps.push('put');
      return { ok: true as const, versionId: 'v', fileId: 'f', path: '/p/f' };
    },
  };
  beforeEach(() => [sent, steps].forEach((list) => list.splice(0)));

  it('is based on the last common version of its folder', async () => {
    const ledger = {
      baseOf: () => 'common',
      cloudPathOf: () => '/Repo/In the Cloud',
      noteSending: async (docPath: string, sha256: string) => {
        await new Promise(setImmediate);
        steps.push(`${docPath} ${sha256}`);
      },
    } as unknown as FolderLedger;
    await sendFile(ledger, context, file, 100);
    expect(sent).toEqual([{ ...file, path: '/Repo/In the Cloud', baseSha256: 'common', isExact: true }]);
    // Recorded first, so that a restarted client recognizes its own text.
    expect(steps).toEqual(['repo/a new', 'put']);
  });

  it('is based on the replaced content if the folder is not synced', async () => {
    await sendFile(undefined, context, file, 100);
    expect(sent).toEqual([file]);
  });

  describe('to a path that git ignores [RELAY-25]', () => {
    let directory: string;
    beforeEach(async () => {
      directory = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-upload-')));
      execFileSync('git', ['init', '-q'], { cwd: directory });
      for (const [name, text] of [
        ['.gitignore', 'a\n'],
        ['a', 'new'],
      ] as const)
        await writeFile(join(directory, name), text);
    });
    afterEach(() => rm(directory, { recursive: true, force: true }));

    const upload = async (patch?: PatchIntent) => {
      const roots = await WorkspaceRoots.open([{ directory, name: 'Repo' }]);
      const intent = {
        ...{ root: directory, path: 'a', docPath: 'repo/a', segments: ['a'], tempName: 't' },
        ...{
          sha256: sha256('new'),
          sizeBytes: 3,
          previousSha256: sha256('private'),
          ...(patch && { patch }),
        },
      };
      return uploadWritten({ roots }, 'call', intent, context, 100);
    };

    it('is skipped for creates and patches', async () => {
      for (const patch of [undefined, { filePatchId: 'f', backupName: 'b' }]) {
        expect(await upload(patch)).toEqual({
          fault: 'It was not uploaded: it is left out of the Cloud now.',
        });
      }
      expect(sent).toEqual([]);
    });
  });
});
