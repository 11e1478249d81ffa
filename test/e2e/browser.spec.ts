import type * as Client from '@patchbay/client';
import type * as Protocol from '@patchbay/protocol';
import { bundleForBrowser, runInPage } from '../support/browser-bundle.js';
import { startTestServer, type TestServer } from '../support/server.js';

describe('What runs in a browser', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

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

  it('tells there too why no answer came', async () => {
    const { PatchbayClient } = runInPage<typeof Client>(await bundleForBrowser('@patchbay/client'));
    const nobody = new PatchbayClient({ url: 'http://127.0.0.1:9', token: 't', retryDelaysMs: [1] });
    await expect(nobody.workspaces()).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringMatching(/^No answer from http:\/\/127\.0\.0\.1:9: .+/) as string,
    });
  });

  it.each([
    ['@patchbay/protocol/hash', 'node:crypto'],
    ['@patchbay/protocol/line-patch', 'node:buffer'],
    ['@patchbay/client/home', 'node:fs'],
  ])('is not %s, which needs %s: the bundle says so', async (entry, builtIn) => {
    await expect(bundleForBrowser(entry)).rejects.toThrow(`Could not resolve "${builtIn}`);
  });
});
