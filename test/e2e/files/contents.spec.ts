import { jest } from '@jest/globals';
import { type StoredFile } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../../contract/backends.js';
import { suiteFixture } from '../../support/fixtures.js';
import { hold } from '../../support/hold.js';
import { ToolsFixture } from '../../support/tools-fixture.js';
import { waitFor } from '../../support/wait-for.js';

describe('contents', () => {
  const fixture = suiteFixture(() => ToolsFixture.start({ maxFileBytes: 4096 }));

  const put = async (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) => {
    const answer = await fixture.raw('PUT', `/contents/${path}`, headers, body);
    return { ...answer, body: JSON.parse(answer.body.toString('utf8')) as StoredFile & { code?: string } };
  };
  const get = (path: string, headers: Record<string, string> = {}) =>
    fixture.raw('GET', `/contents/${path}`, headers);
  const etag = (bytes: string | Uint8Array): string => `"${sha256(bytes)}"`;

  it('are stored byte for byte, with any content type [FILE-4]', async () => {
    const bytes = Buffer.from([0, 255, 254, 13, 10, 0xef, 0xbb, 0xbf]);
    for (const type of ['application/octet-stream', 'application/json', 'text/html', 'nonsense']) {
      const stored = await put(`raw/${type.replace('/', '-')}`, bytes, { 'content-type': type });
      expect(stored.status).toBe(201);
      expect(stored.headers.get('etag')).toBe(etag(bytes));
      expect(stored.body).toMatchObject({ sha256: sha256(bytes), sizeBytes: 8 });
      const answer = await get(`raw/${type.replace('/', '-')}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(bytes);
      expect(answer.headers.get('etag')).toBe(etag(bytes));
      expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    }
  });

  it('are served as a download that only the reader may cache', async () => {
    const { versionId, fileId } = (await put('page.html', '<script>1</script>')).body;
    for (const path of ['/contents/page.html', `/files/${fileId}/versions/${versionId}/content`]) {
      const { headers } = await fixture.raw('GET', path);
      expect(headers.get('content-security-policy')).toBe('sandbox');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('private, no-cache');
    }
  });

  it.each([
    ['GET', () => '/contents/awaited'],
    ['GET', ({ fileId, versionId }: StoredFile) => `/files/${fileId}/versions/${versionId}/content`],
    ['POST', () => '/blobs/read'],
  ])('count as an unread response before they are read (%s)', async (method, pathOf) => {
    const text = 'x'.repeat(4096);
    const path = pathOf((await put('awaited', text)).body);
    const { unreadAnswers } = fixture.server.app.getHttpAdapter().getInstance();
    await waitFor(() => unreadAnswers.held === 0, 'the answers before');
    const slow = hold(storesOf(fixture.server.app).blobs, 'read');
    const asked = method === 'POST' ? JSON.stringify({ sha256s: [sha256(text)] }) : undefined;
    const answer = fixture.raw(method, path, asked ? { 'content-type': 'application/json' } : {}, asked);
    await slow.reached;
    const held = unreadAnswers.held;
    slow.release();
    expect((await answer).status).toBe(200);
    expect(held).toBe(4096);
  });

  it('may be empty', async () => {
    expect((await put('empty', '')).body).toMatchObject({ sizeBytes: 0, sha256: sha256('') });
    expect((await get('empty')).body).toHaveLength(0);
  });

  it('are found by docPath and by Cloud path, decoded once', async () => {
    const stored = await put('%2FMy%20Docs/100%2525.md', 'x');
    expect(stored.body).toMatchObject({ path: '/My Docs/100%25.md', docPath: 'my docs/100%25.md' });
    for (const path of ['/My%20Docs/100%2525.md', 'my%20docs/100%2525.md', 'MY%20DOCS%2F100%2525.MD']) {
      expect((await get(path)).body.toString()).toBe('x');
    }
    expect((await get('my%20docs/100%25.md')).status).toBe(404);
    expect((await get('%zz')).status).toBe(400);
    for (const path of ['a//b', '..%2Fa', 'a%2F.%2Fb', 'a%5Cb', 'a%00b', 'folder/', '', 'a'.repeat(5000)]) {
      const answer = await fixture.raw('PUT', `/contents/${path}`, {}, 'x');
      expect([path.slice(0, 9), answer.status]).toEqual([path.slice(0, 9), 400]);
    }
  });

  it('are found whatever escapes the other parts of the URL have', async () => {
    await fixture.raw('PUT', '/%63ontents/odd/contents/a.txt', {}, 'x');
    expect((await get('odd/contents/a.txt')).body.toString()).toBe('x');
    expect(await fixture.list('/odd', true)).toEqual(['/odd/contents', '/odd/contents/a.txt']);
  });

  it.each(['a%zz', '%ff', 'a%', '%c3%28/x', 'dir/%e4'])('are nowhere that %s could say', async (path) => {
    for (const method of ['GET', 'PUT']) {
      const { status, body } = await fixture.raw(
        method,
        `/contents/${path}`,
        {},
        method === 'PUT' ? 'x' : undefined,
      );
      expect([status, JSON.parse(body.toString())]).toEqual([
        400,
        { error: 'The URL is not valid percent-encoding', code: 'VALIDATION_ERROR' },
      ]);
    }
  });

  it('are overwritten without a precondition, with a version each time', async () => {
    const first = await put('again', 'same');
    const second = await put('again', 'same');
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.fileId).toBe(first.body.fileId);
    expect(second.body.versionId).not.toBe(first.body.versionId);
  });

  it('are answered with 304 to a reader who has them', async () => {
    await put('cached', 'one');
    for (const known of [etag('one'), `W/${etag('one')}`, `"other", ${etag('one')}`, '*']) {
      const answer = await get('cached', { 'if-none-match': known });
      expect(answer.status).toBe(304);
      expect(answer.body).toHaveLength(0);
      expect(answer.headers.get('etag')).toBe(etag('one'));
    }
    expect((await get('cached', { 'if-none-match': etag('old') })).status).toBe(200);
    expect((await get('cached', { 'if-match': etag('old') })).status).toBe(412);
  });

  it('change only when the tag in If-Match matches [FILE-4]', async () => {
    await put('guarded', 'one');
    const stale = await put('guarded', 'two', { 'if-match': etag('old') });
    expect(stale).toMatchObject({ status: 412, body: { code: 'STALE' } });
    expect(Object.keys(stale.body).sort()).toEqual(['code', 'error']);
    expect((await put('guarded', 'two', { 'if-match': `W/${etag('one')}` })).status).toBe(412);
    expect((await put('guarded', 'two', { 'if-match': `"a", ${etag('one')}` })).status).toBe(200);
    expect((await put('guarded', 'two', { 'if-match': `"a,b" ,W/"c",${etag('two')}, ` })).status).toBe(200);
    expect((await put('guarded', 'three', { 'if-match': '*' })).status).toBe(200);
    expect((await put('nothing', 'x', { 'if-match': '*' })).status).toBe(412);
    for (const header of ['unquoted', '', ',', '"a" "b"', '"a",b']) {
      expect((await put('guarded', 'x', { 'if-match': header })).status).toBe(400);
    }
    expect((await get('guarded')).body.toString()).toBe('three');
  });

  it('are rejected with a list of tags that is too long', async () => {
    await put('list', 'x');
    for (const list of [','.repeat(9_000), `"${'a'.repeat(9_000)}"`, '"a",'.repeat(2_100)]) {
      for (const name of ['If-Match', 'If-None-Match']) {
        const answer = await put('list', 'y', { [name]: list });
        expect(answer).toMatchObject({
          status: 400,
          body: { fields: { [name]: expect.any(String) as string } },
        });
      }
    }
    expect(String((await get('list')).body)).toBe('x');
  });

  it('are created with If-None-Match: * only when no file exists [FILE-4]', async () => {
    expect((await put('fresh', 'one', { 'if-none-match': '*' })).status).toBe(201);
    expect((await put('FRESH', 'two', { 'if-none-match': '*' })).status).toBe(412);
    expect((await put('fresh', 'two', { 'if-none-match': etag('one') })).status).toBe(412);
    expect((await put('fresh', 'two', { 'if-none-match': etag('other') })).status).toBe(200);
  });

  it('accept one of several writers with one tag, and every writer without a tag [FILE-4]', async () => {
    await put('crowd', 'base');
    const guarded = await Promise.all(
      Array.from({ length: 20 }, (_, n) => put('crowd', `${n}`, { 'if-match': etag('base') })),
    );
    expect(guarded.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(guarded.filter(({ status }) => status === 412)).toHaveLength(19);
    const fresh = await Promise.all(
      Array.from({ length: 20 }, (_, n) => put('new/crowd', `${n}`, { 'if-none-match': '*' })),
    );
    expect(fresh.filter(({ status }) => status === 201)).toHaveLength(1);
    const free = await Promise.all(Array.from({ length: 40 }, (_, n) => put('many', `${n}`)));
    expect(free.filter(({ status }) => status === 201)).toHaveLength(1);
    const { fileId } = free[0]!.body;
    const { body } = await fixture.user.get<{ versions: { number: number; versionId: string }[] }>(
      `${fixture.base}/files/${fileId}/versions?limit=100`,
    );
    expect(body.versions.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, n) => 40 - n));
    expect(new Set(body.versions.map(({ versionId }) => versionId))).toEqual(
      new Set(free.map((answer) => answer.body.versionId)),
    );
  });

  it('cost one write each for concurrent writers of one path', async () => {
    const stored = jest.spyOn(storesOf(fixture.server.app).files, 'commitVersion');
    await put('one-by-one', 'first');
    await Promise.all(Array.from({ length: 10 }, (_, n) => put('one-by-one', `${n}`)));
    expect(stored).toHaveBeenCalledTimes(10);
    stored.mockRestore();
  });

  it('do not wait for a write at the same path of another workspace', async () => {
    const elsewhere = await fixture.elsewhere();
    const slow = hold(storesOf(fixture.server.app).files, 'insert');
    const both = [fixture, elsewhere].map((one) => one.raw('PUT', '/contents/slow', {}, 'x'));
    await slow.reachedBy(2);
    slow.release();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([201, 201]);
  });

  it('may have the maximum size of a file and not one byte more', async () => {
    expect((await put('limit', Buffer.alloc(4096))).status).toBe(201);
    expect(await put('limit', Buffer.alloc(4097))).toMatchObject({
      status: 413,
      body: { code: 'TOO_LARGE' },
    });
    expect((await get('limit')).body).toHaveLength(4096);
  });

  it('are rejected at a folder, below a file and at the root', async () => {
    await put('dir/file', 'x');
    expect((await put('dir', 'x')).status).toBe(400);
    expect((await put('dir/file/below', 'x')).status).toBe(409);
    expect((await get('dir')).status).toBe(400);
    expect((await get('dir/none')).status).toBe(404);
  });

  it('of an older version can be read by its id, also after a deletion', async () => {
    const first = await put('old', 'one');
    await put('old', 'two');
    expect((await get(`old?versionId=${first.body.versionId}`)).body.toString()).toBe('one');
    await fixture.ok('rm', { path: '/old' });
    expect((await get('old')).status).toBe(404);
    expect((await get(`old?versionId=${first.body.versionId.toUpperCase()}`)).body.toString()).toBe('one');
    expect((await get(`other?versionId=${first.body.versionId}`)).status).toBe(404);
    expect((await get('old?versionId=nonsense')).status).toBe(400);
    expect((await get('old?unknown=1')).status).toBe(400);
  });

  it('of a deleted file can be read by version when another file has its path', async () => {
    const first = await put('former', 'one');
    await fixture.ok('rm', { path: '/former' });
    const second = await put('former', 'two');
    expect(second.body.fileId).not.toBe(first.body.fileId);
    for (const [{ body }, text] of [
      [first, 'one'],
      [second, 'two'],
    ] as const) {
      expect((await get(`former?versionId=${body.versionId}`)).body.toString()).toBe(text);
    }
  });

  it('are read as text by the tools', async () => {
    await fixture.write('/shape.json', { a: 1 });
    await put('shape.json', '{"a":2}');
    expect(await fixture.read('/shape.json')).toEqual({ text: '{"a":2}' });
    await put('binary', Buffer.from([0xff, 0xfe]));
    const answer = await fixture.call('read', { path: '/binary' });
    expect(answer.status).toBe(400);
    expect(answer.body.fields?.path).toContain('contents');
  });

  it('are not readable by non-members', async () => {
    await put('secret', 'x');
    const stranger = await fixture.server.register();
    expect((await stranger.get(`${fixture.base}/contents/secret`)).status).toBe(403);
    expect((await stranger.request('PUT', `${fixture.base}/contents/secret`, 'y')).status).toBe(403);
    expect((await fixture.server.request('GET', `${fixture.base}/contents/secret`)).status).toBe(401);
  });
});
