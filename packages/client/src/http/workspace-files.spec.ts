import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { packBlobs } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { PatchbayClient } from './patchbay-client.js';
import type { WorkspaceFiles } from './workspace-files.js';

interface Seen {
  route: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}
interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

describe('WorkspaceFiles', () => {
  let server: Server;
  let files: WorkspaceFiles;
  let seen: Seen[];
  let answer: (seen: Seen) => Answer;

  beforeEach(async () => {
    seen = [];
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const route = `${request.method} ${request.url!.replace('/api/v1/workspaces/w1', '')}`;
        const one = { route, headers: request.headers, body: Buffer.concat(chunks) };
        seen.push(one);
        const { status, body, headers } = answer(one);
        response.writeHead(status, headers);
        response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    files = new PatchbayClient({ url, token: 'token', retryDelaysMs: [1, 1] }).workspace('w1').files;
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('lists page by page', async () => {
    answer = ({ route }) => {
      const last = route.includes('cursor=c2');
      return { status: 200, body: { files: [{ path: last ? '/b' : '/a' }], nextCursor: last ? null : 'c2' } };
    };
    const paths: string[] = [];
    for await (const { path } of files.list({ prefix: 'p/' })) paths.push(path);
    expect(paths).toEqual(['/a', '/b']);
    expect(seen[0]!.route).toBe('GET /files?prefix=p%2F&limit=1000');
  });

  it('reads bytes unchanged, with a path that is escaped once', async () => {
    const bytes = Buffer.from([0, 255, 13, 10]);
    answer = () => ({ status: 200, body: bytes, headers: { etag: `"${sha256(bytes)}"` } });
    const read = await files.read('/My Repo/100%/ä?.bin');
    expect(Buffer.from(read!.bytes)).toEqual(bytes);
    expect(read!.sha256).toBe(sha256(bytes));
    expect(seen[0]!.route).toBe('GET /contents/My%20Repo/100%25/%C3%A4%3F.bin');
  });

  it('reads nothing if the file still has the known hash', async () => {
    answer = () => ({ status: 304 });
    expect(await files.read('a', { known: 'abc' })).toBeNull();
    expect(seen[0]!.headers['if-none-match']).toBe('"abc"');
  });

  it('writes under a condition, once', async () => {
    answer = () => ({ status: 412, body: { error: 'The file has moved on.', code: 'STALE' } });
    const writing = files.write('a/b', Buffer.from('x'), { ifMatch: 'abc' });
    await expect(writing).rejects.toMatchObject({ code: 'STALE', status: 412 });
    await files.write('a/b', Buffer.from('x'), { ifNoneMatch: '*' }).catch(() => undefined);
    expect(seen.map(({ headers }) => [headers['if-match'], headers['if-none-match']])).toEqual([
      ['"abc"', undefined],
      [undefined, '*'],
    ]);
    expect(seen[0]!.body.toString()).toBe('x');
  });

  it('sends blobs one by one and together, and asks for those that are missing', async () => {
    answer = () => ({ status: 200, body: { missing: ['m'], sha256s: [] } });
    await files.putBlob('abc', Buffer.from('x'));
    await files.putBlobs([Buffer.from('x'), Buffer.from('yz')]);
    expect(await files.missingBlobs(['m', 'n'])).toEqual(['m']);
    expect(seen.map(({ route }) => route)).toEqual(['PUT /blobs/abc', 'POST /blobs', 'POST /blobs/missing']);
    expect(new Uint8Array(seen[1]!.body)).toEqual(packBlobs([Buffer.from('x'), Buffer.from('yz')]));
  });

  it('reads the bytes of a version, such as an upload kept as a conflict', async () => {
    answer = () => ({ status: 200, body: Buffer.from('x') });
    expect(Buffer.from(await files.readVersion('f', 'v')).toString()).toBe('x');
    expect(seen[0]!.route).toBe('GET /files/f/versions/v/content');
  });

  it('reads many blobs, and asks again if the answer has only the first of them', async () => {
    const asked = () => (JSON.parse(seen.at(-1)!.body.toString()) as { sha256s: string[] }).sha256s;
    answer = () => ({
      status: 200,
      body: Buffer.from(
        packBlobs(
          asked()
            .slice(0, 2)
            .map((name) => Buffer.from(name)),
        ),
      ),
    });
    const read: string[] = [];
    for await (const bytes of files.readBlobs(['a', 'b', 'c'])) read.push(Buffer.from(bytes).toString());
    expect(read).toEqual(['a', 'b', 'c']);
    expect(seen.map(({ route }) => route)).toEqual(['POST /blobs/read', 'POST /blobs/read']);
  });

  it.each([
    ['is empty', Buffer.alloc(0)],
    ['is cut off', Buffer.from(packBlobs([Buffer.from('abc')])).subarray(0, 6)],
    ['has more than was asked for', Buffer.from(packBlobs([Buffer.from('a'), Buffer.from('b')]))],
  ])('rejects a pack that %s', async (_, body) => {
    answer = () => ({ status: 200, body });
    await expect(files.readBlobs(['a']).next()).rejects.toThrow('pack');
  });

  it('sends a commit again when the server stops meanwhile', async () => {
    answer = () =>
      seen.length === 1
        ? { status: 503, body: { error: 'Stopping.', code: 'UNAVAILABLE' } }
        : { status: 200, body: { files: [{ path: '/a', fileId: 'f', versionId: 'v' }] } };
    const made = await files.commit([{ path: 'a', sha256: 'abc', baseSha256: null }]);
    expect(made).toEqual([{ path: '/a', fileId: 'f', versionId: 'v' }]);
    expect(seen).toHaveLength(2);
  });

  it('waits for a rate limit as often as needed', async () => {
    const limited = { error: 'Too many requests.', code: 'RATE_LIMITED' };
    answer = () =>
      seen.length <= 5
        ? { status: 429, body: limited, headers: { 'retry-after': '0' } }
        : { status: 200, body: { missing: [] } };
    expect(await files.missingBlobs(['m'])).toEqual([]);
    expect(seen).toHaveLength(6);
  });

  it('stops at once when its signal is aborted', async () => {
    const abort = new AbortController();
    answer = () => {
      // Aborts while the request waits, or under load while its answer is still outstanding; both must end it.
      setTimeout(() => abort.abort(), 50);
      return {
        status: 429,
        body: { error: 'Too many.', code: 'RATE_LIMITED' },
        headers: { 'retry-after': '60' },
      };
    };
    await expect(files.missingBlobs(['m'], abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen).toHaveLength(1);
  });
});
