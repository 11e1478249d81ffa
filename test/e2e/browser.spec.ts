import type * as Client from '@patchbay/client';
import type * as Protocol from '@patchbay/protocol';
import * as text from '@patchbay/workspace/text';
import { bundleForBrowser, runInPage } from '../support/browser-bundle.js';
import { suiteFixture } from '../support/fixtures.js';
import { startTestServer } from '../support/server.js';

describe('What runs in a browser', () => {
  const server = suiteFixture(() => startTestServer());

  it('is the protocol, which reads numbers exactly there too', async () => {
    const protocol = runInPage<typeof Protocol>(await bundleForBrowser('@patchbay/protocol'));
    const parsed = protocol.parseExactJson('{"id": 9007199254740993}') as object;
    expect(protocol.lossIn(parsed, 'id')).toContain('9007199254740993');
    expect(protocol.toDocPath('/Repo/A.ts')).toBe('repo/a.ts');
    const blobs = [new Uint8Array([1]), new Uint8Array([2, 3])];
    expect(protocol.unpackBlobs(protocol.packBlobs(blobs))!.map((blob) => [...blob])).toEqual([[1], [2, 3]]);
  });

  it('is the client: an account, a file and a turn, against the real server', async () => {
    const { PatchbayClient, PatchbayError } = runInPage<typeof Client>(
      await bundleForBrowser('@patchbay/client'),
    );
    const patchbay = new PatchbayClient({ url: server.url });
    await patchbay.register({ email: 'page@example.com', password: 'correct horse battery' });
    const workspace = patchbay.workspace((await patchbay.createWorkspace('Page')).id);
    const written = await workspace.files.write('a/b.txt', new TextEncoder().encode('hello\n'));
    const read = await workspace.files.read('a/b.txt');
    expect([new TextDecoder().decode(read!.bytes), read!.sha256]).toEqual(['hello\n', written.sha256]);
    expect(await workspace.files.read('a/b.txt', { known: written.sha256 })).toBeNull();
    const { sessionId } = await workspace.createSession();
    const call = { toolCallId: 'c', name: 'read', arguments: { path: '/a/b.txt' } };
    const turn = await workspace.runTurn(sessionId, { toolCalls: [call] });
    expect(turn.toolResults).toMatchObject([{ status: 'succeeded' }]);
    const missing: unknown = await workspace.files.read('nowhere').catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(PatchbayError);
    expect(missing).toMatchObject({ code: 'NOT_FOUND' });
  });

  describe('is the text editor without a disk', () => {
    const before = '\uFEFFgrüße\r\n日本 🙂\r\nlast';
    const batch = (originalSha256: string): Protocol.PatchBatch => ({
      ...{ batchId: 'b', batchKey: null, batchLabel: null },
      files: [
        {
          ...{ filePatchId: 'f', fileKey: null, docPath: 'notes/a.md', originalSha256, fileLabel: null },
          changes: [
            {
              ...{ changeId: 'c', changeKey: null, description: null, operation: 'replace' },
              ...{ startLine: 2, endLine: 2, expectedOriginalLines: ['日本 🙂'], newLines: ['à', 'b'] },
            },
          ],
        },
      ],
    });
    let page: typeof text;
    beforeAll(async () => {
      page = runInPage(await bundleForBrowser('@patchbay/workspace/text'));
    });
    /** The same in Node and in a page; through JSON, as a page has other prototypes. */
    const expectSame = (work: (entry: typeof text) => unknown) => {
      const [there, here] = [page, text].map((entry) => JSON.stringify(work(entry)));
      expect(there).toBe(here);
      return JSON.parse(there!) as unknown;
    };

    it('which hashes as Node does', () => {
      const texts = ['', before, 'a'.repeat(1_000_000), '\ud800'];
      expectSame(({ sha256, contentHash }) => texts.map((one) => [sha256(one), contentHash(one)]));
    });

    it('which applies a batch', () => {
      const files = new Map([['notes/a.md', before]]);
      const applied = expectSame(({ applyBatch, sha256 }) => applyBatch(batch(sha256(before)), files));
      expect(applied).toMatchObject({
        result: { success: true },
        files: [{ text: '\uFEFFgrüße\r\nà\r\nb\r\nlast' }],
      });
    });

    it('which says what does not fit', () => {
      const files = new Map([['notes/a.md', before.replace('日本', '日 本')]]);
      const hash = text.sha256(files.get('notes/a.md')!);
      for (const planned of [hash, 'a'.repeat(64)])
        expect(expectSame(({ applyBatch }) => applyBatch(batch(planned), files))).toMatchObject({
          result: { success: false, files: [{ status: 'conflict' }] },
        });
    });

    it('which tells two texts apart, and text from what is none', () => {
      const after = 'grüße\n日本 🙂\nlast\n';
      expectSame(({ unifiedDiffBetween, diffToChanges, notTextReason, splitLines }) => {
        const [a, b] = [before, after].map((one) => new TextEncoder().encode(one)) as [
          Uint8Array,
          Uint8Array,
        ];
        const cut = a.subarray(0, 6);
        const odd = [cut, a.subarray(0, 200_000), new Uint8Array([0xff, 0xfe]), new Uint8Array([97, 0])];
        return [unifiedDiffBetween(a, b, 'a.md'), diffToChanges(b, a), odd.map(notTextReason), splitLines(a)];
      });
      const long = 'é'.repeat(100_000);
      const bytes = new TextEncoder().encode(long);
      expect([page.notTextReason(bytes), page.notTextReason(bytes.subarray(0, -1))]).toEqual([
        null,
        'it is not valid UTF-8',
      ]);
    });
  });

  it('tells there too why no answer came', async () => {
    const { PatchbayClient } = runInPage<typeof Client>(await bundleForBrowser('@patchbay/client'));
    const nobody = new PatchbayClient({ url: 'http://127.0.0.1:9', token: 't', retryDelaysMs: [1] });
    await expect(nobody.workspaces()).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringMatching(/^No answer from http:\/\/127\.0\.0\.1:9: .+/) as string,
    });
  });

  it.each([
    ['@patchbay/workspace', 'node:fs'],
    ['@patchbay/client/home', 'node:fs'],
  ])('is not %s, which needs %s: the bundle says so', async (entry, builtIn) => {
    await expect(bundleForBrowser(entry)).rejects.toThrow(`Could not resolve "${builtIn}`);
  });
});
