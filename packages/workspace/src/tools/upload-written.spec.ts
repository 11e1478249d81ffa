import type { FilePut } from '@patchbay/protocol';
import type { FolderLedger } from '../disk/folder-ledger.js';
import { send } from './send-file.js';

const file: FilePut = {
  ...{
    docPath: 'repo/a',
    path: '/Repo/A',
    content: Buffer.from('new'),
    sha256: 'new',
    baseSha256: 'replaced',
  },
};

describe('a file that a call has written', () => {
  const sent: FilePut[] = [];
  const steps: string[] = [];
  const context = {
    putFile: async (put: FilePut) => {
      sent.push(put);
      steps.push('put');
      return { ok: true as const, versionId: 'v', fileId: 'f' };
    },
  };
  beforeEach(() => [sent, steps].forEach((list) => list.splice(0)));

  it('takes the place of that version alone which its folder last had', async () => {
    const ledger = {
      baseOf: () => 'common',
      sending: async (docPath: string, sha256: string) => {
        await new Promise(setImmediate);
        steps.push(`${docPath} ${sha256}`);
      },
    } as unknown as FolderLedger;
    await send(ledger, context, file, 100);
    expect(sent).toEqual([{ ...file, baseSha256: 'common', isExact: true }]);
    // It is noted first, so that a client that dies knows its own text when it meets it again.
    expect(steps).toEqual(['repo/a new', 'put']);
  });

  it('is based on what the call has replaced, where nothing keeps the folder in step', async () => {
    await send(undefined, context, file, 100);
    expect(sent).toEqual([file]);
  });
});
