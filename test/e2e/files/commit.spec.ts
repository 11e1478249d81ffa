import { jest } from '@jest/globals';
import {
  type CommittedFile,
  type FileChange,
  type FileCommitAnswer,
  type MissingBlobs,
  packBlobs,
  type RefusedFile,
  unpackBlobs,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { ErrorBody } from '@patchbay/protocol';
import { storesOf } from '../../contract/backends.js';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

const MIB = 1024 * 1024;
const MAX_BYTES = 16_384;

describe('a commit of files [FILE-7]', () => {
  let fixture: ToolsFixture;
  const shared = suiteFixture(() => ToolsFixture.start({ maxFileBytes: MAX_BYTES }));
  beforeEach(async () => void (fixture = await shared.elsewhere()));

  const send = (...texts: string[]) =>
    fixture.raw('POST', '/blobs', {}, packBlobs(texts.map((text) => Buffer.from(text))));
  const readPack = (...sha256s: string[]) =>
    fixture.raw('POST', '/blobs/read', { 'content-type': 'application/json' }, JSON.stringify({ sha256s }));
  const missing = async (...sha256s: string[]): Promise<string[]> =>
    (await fixture.user.post<MissingBlobs>(`${fixture.base}/blobs/missing`, { sha256s })).body.missing;
  const commit = (...files: FileChange[]) =>
    fixture.user.post<FileCommitAnswer & ErrorBody>(`${fixture.base}/files/commit`, { files });
  const committed = async (...files: FileChange[]) => (await commit(...files)).body.files as CommittedFile[];
  const refused = async (file: FileChange) => {
    const [answer] = (await commit(file)).body.files as RefusedFile[];
    return answer!.error;
  };
  const text = (path: string, content: string, base: string | null = null): FileChange => ({
    path,
    sha256: sha256(content),
    baseSha256: base === null ? null : sha256(base),
  });

  it('creates files of bytes that were sent before, with their folders', async () => {
    expect((await send('one\n', 'two\n')).status).toBe(200);
    const { status, body } = await commit(text('/P/src/one.txt', 'one\n'), text('P/two.txt', 'two\n'));
    expect(status).toBe(200);
    expect(body.files).toMatchObject([{ path: '/P/src/one.txt' }, { path: '/P/two.txt' }]);
    expect(await fixture.read('/P/src/one.txt')).toEqual({ text: 'one\n' });
    expect(await fixture.list('/', true)).toEqual(['/P', '/P/src', '/P/src/one.txt', '/P/two.txt']);
    const versions = await fixture.user.get(
      `${fixture.base}/files/${(body.files[0] as CommittedFile).fileId}/versions`,
    );
    expect(versions.body).toMatchObject({
      versions: [{ number: 1, source: 'upload', author: fixture.user.id }],
    });
    const names = (await fixture.trail()).map(({ name }) => name);
    expect(names.filter((name) => name === 'File.Created')).toHaveLength(2);
  });

  it('renames a file by case alone when it still has the given name [FILE-31]', async () => {
    await send('one', 'two');
    const [first] = await committed(text('/P/Docs/Read.md', 'one'));
    const renamed = { ...text('/P/docs/READ.md', 'one', 'one'), renamedFrom: '/P/Docs/Read.md' };
    for (const answer of [{ renamed: true, unchanged: true }, { unchanged: true }]) {
      const path = '/P/docs/READ.md';
      expect(await committed(renamed)).toEqual([
        { path, fileId: first!.fileId, versionId: first!.versionId, ...answer },
      ]);
    }
    expect(await fixture.list('/', true)).toEqual(['/P', '/P/docs', '/P/docs/READ.md']);
    const late = { ...renamed, path: '/P/docs/rEAD.md' };
    expect(await committed(late)).toMatchObject([{ path: '/P/docs/READ.md' }]);
    // In its own words without it, a path is only where the file is.
    expect(await committed(text('/p/DOCS/read.MD', 'two', 'one'))).toMatchObject([
      { path: '/P/docs/READ.md' },
    ]);
    const stale = { ...text('/P/docs/Read.md', 'one', 'one'), renamedFrom: '/P/docs/READ.md' };
    expect(await refused(stale)).toMatchObject({ code: 'STALE' });
    expect(await fixture.list('/P/docs')).toEqual(['/P/docs/Read.md']);
    const elsewhere = { ...renamed, renamedFrom: '/P/Docs/Other.md' };
    expect(await refused(elsewhere)).toMatchObject({ code: 'VALIDATION_ERROR' });
    const gone = { path: '/P/docs/Read.md', deleted: true as const, baseSha256: sha256('two') };
    expect((await commit({ ...gone, renamedFrom: '/P/x' })).body.fields).toEqual({
      'files[0].renamedFrom': 'must not stand beside deleted',
    });
    const moves = (await fixture.trail()).filter(({ name }) => name === 'File.Moved');
    expect(moves.map(({ fields }) => [fields.fromPath, fields.fromDisplayPath, fields.displayPath])).toEqual([
      ['p/docs/read.md', 'P/Docs/Read.md', 'P/docs/READ.md'],
      ['p/docs/read.md', 'P/docs/READ.md', 'P/docs/Read.md'],
    ]);
  });

  it('reports bytes that could not be stored', async () => {
    const { blobs } = storesOf(fixture.server.app);
    const put = jest.spyOn(blobs, 'put').mockRejectedValueOnce(new Error('The disk is full'));
    expect((await send('one', 'two')).status).toBe(500);
    put.mockRestore();
    expect(await missing(sha256('one'))).toEqual([sha256('one')]);
  });

  it('asks only for bytes that the workspace lacks', async () => {
    await send('here');
    expect(await missing(sha256('here'), sha256('not here'), sha256('not here').toUpperCase())).toEqual([
      sha256('not here'),
    ]);
    const elsewhere = await shared.elsewhere();
    const answer = await elsewhere.user.post(`${elsewhere.base}/blobs/missing`, {
      sha256s: [sha256('here')],
    });
    expect(answer.body).toEqual({ missing: [sha256('here')] });
  });

  it('returns the bytes of many hashes at once, in their order', async () => {
    await send('one', '', 'two');
    const asked = ['two', 'one', '', 'two'];
    const { status, headers, body } = await readPack(...asked.map((text) => sha256(text)));
    expect([status, headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(unpackBlobs(body)!.map((blob) => Buffer.from(blob).toString())).toEqual(asked);
    expect((await readPack()).body).toHaveLength(0);
  });

  it('returns the first hashes up to the size limit of a file, and at least one', async () => {
    const [half, whole] = ['h'.repeat(MAX_BYTES / 2 - 4), 'w'.repeat(MAX_BYTES)];
    await send(half);
    await send('small');
    await fixture.raw('PUT', `/blobs/${sha256(whole)}`, {}, Buffer.from(whole));
    const sizes = async (...texts: string[]) =>
      unpackBlobs((await readPack(...texts.map((text) => sha256(text)))).body)!.map(({ length }) => length);
    expect(await sizes(half, half, 'small')).toEqual([half.length, half.length]);
    expect(await sizes(whole, 'small')).toEqual([whole.length]);
    expect(await sizes('small', whole)).toEqual([5]);
  });

  it('returns no bytes that the workspace lacks, and none to non-members', async () => {
    await send('here');
    const body = { sha256s: [sha256('here')] };
    const elsewhere = await shared.elsewhere();
    expect(await elsewhere.user.post(`${elsewhere.base}/blobs/read`, body)).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('does not hold') as string },
    });
    const stranger = await fixture.server.register();
    expect((await stranger.post(`${fixture.base}/blobs/read`, body)).status).toBe(403);
    const bad = await fixture.user.post(`${fixture.base}/blobs/read`, { sha256s: ['x'] });
    expect(bad).toMatchObject({ status: 400, body: { fields: { sha256s: expect.any(String) as string } } });
  });

  it('reports the outcome of each file separately', async () => {
    await send('x', 'y');
    await fixture.write('/P/taken', { text: 'other' });
    const { body } = await commit(
      text('P/good', 'x'),
      text('P/taken', 'x'),
      text('P/unsent', 'never sent'),
      text('P/../up', 'x'),
      text('P/good/below', 'y'),
      text('P', 'y'),
    );
    expect(body.files).toMatchObject([
      { path: '/P/good' },
      { error: { code: 'STALE', currentSha256: sha256('other') } },
      { error: { code: 'NOT_FOUND', currentSha256: null } },
      { error: { code: 'VALIDATION_ERROR' } },
      { error: { code: 'CONFLICT' } },
      { error: { code: 'VALIDATION_ERROR' } },
    ]);
    expect(await fixture.read('/P/taken')).toEqual({ text: 'other' });
  });

  it('reports every invalid change', async () => {
    const { status, body } = await commit(
      { path: 'a', baseSha256: null },
      text('b', 'x'),
      { path: 'c', deleted: true, sha256: sha256('x'), baseSha256: null },
      { path: 'd', deleted: true, baseSha256: null },
    );
    expect(status).toBe(400);
    expect(body.fields).toEqual({
      'files[0].sha256': 'is required',
      'files[2].sha256': 'must not stand beside deleted',
      'files[2].baseSha256': 'is required',
      'files[3].baseSha256': 'is required',
    });
  });

  it('replaces only the head that it is based on', async () => {
    await send('1', '2', '3');
    await commit(text('f', '1'));
    expect(await committed(text('f', '2', '1'))).toMatchObject([{ path: '/f' }]);
    expect(await refused(text('f', '3', '1'))).toMatchObject({ code: 'STALE', currentSha256: sha256('2') });
    expect(await refused(text('new', '3', '1'))).toMatchObject({ code: 'STALE', currentSha256: null });
    expect(await fixture.read('/f')).toEqual({ text: '2' });
  });

  it('treats a hash in capitals as the same everywhere', async () => {
    await send('1', '2');
    const [first, second] = ['1', '2'].map((content) => sha256(content).toUpperCase());
    expect((await readPack(first!)).body).toEqual((await readPack(sha256('1'))).body);
    await commit({ path: 'f', sha256: first!, baseSha256: null });
    expect(await committed({ path: 'f', sha256: second!, baseSha256: first! })).toMatchObject([
      { path: '/f' },
    ]);
  });

  it('changes nothing when it comes again', async () => {
    await send('1');
    const first = await committed(text('f', '1'));
    expect(await committed(text('F', '1', 'whatever'))).toEqual([{ ...first[0], unchanged: true }]);
    expect((await fixture.trail()).filter(({ name }) => name.startsWith('File.'))).toHaveLength(1);
  });

  it('deletes a file only when told to and only at its base', async () => {
    await send('1');
    await commit(text('f', '1'));
    const base = { path: 'f', baseSha256: sha256('0') };
    expect(await refused({ ...base, deleted: true })).toMatchObject({ code: 'STALE' });
    const unsaid = await commit({ path: 'f', baseSha256: sha256('1') });
    expect([unsaid.status, unsaid.body.fields]).toEqual([400, { 'files[0].sha256': 'is required' }]);
    const bare = await commit({ path: 'f', deleted: true, baseSha256: null });
    expect(bare.body.fields).toEqual({ 'files[0].baseSha256': 'is required' });
    const deletion = { path: 'f', deleted: true, baseSha256: sha256('1') } as const;
    const [deleted] = await committed(deletion);
    expect(deleted).toMatchObject({ path: '/f' });
    expect(await fixture.list()).toEqual([]);
    expect(await committed(deletion)).toEqual([{ ...deleted, unchanged: true }]);
    const other = await refused({ ...deletion, baseSha256: sha256('0') });
    expect(other).toMatchObject({ code: 'STALE', currentSha256: null });
  });

  it('creates one version for each of two concurrent commits', async () => {
    await send('1', 'a', 'b');
    await commit(text('f', '1'));
    const answers = await Promise.all([commit(text('f', 'a', '1')), commit(text('f', 'b', '1'))]);
    const outcomes = answers.map(({ body }) => ('error' in body.files[0]! ? 'refused' : 'made'));
    expect(outcomes.sort()).toEqual(['made', 'refused']);
  });

  it('accepts at most a thousand files', async () => {
    const names = Array.from({ length: 1001 }, (_, n) => `deep/${n % 10}/${n}`);
    await send(...names.slice(0, 1000));
    const made = await committed(...names.slice(0, 1000).map((name) => text(name, name)));
    expect(made.filter((file) => 'error' in file)).toEqual([]);
    expect(made).toHaveLength(1000);
    expect((await fixture.list('/deep', true)).length).toBe(1010);
    const over = await commit(...names.map((name) => text(name, name)));
    expect([over.status, over.body.fields]).toEqual([400, { files: 'must have at most 1000 items' }]);
  });

  it('accepts a blob under its own hash only', async () => {
    const put = (digest: string, body: Uint8Array) => fixture.raw('PUT', `/blobs/${digest}`, {}, body);
    expect((await put(sha256('x'), Buffer.from('x'))).status).toBe(200);
    expect(await missing(sha256('x'))).toEqual([]);
    expect((await put(sha256('y'), Buffer.from('x'))).status).toBe(400);
    expect((await put('nonsense', Buffer.from('x'))).status).toBe(400);
    expect((await put(sha256(Buffer.alloc(MAX_BYTES + 1)), Buffer.alloc(MAX_BYTES + 1))).status).toBe(413);
    expect((await put(sha256(''), Buffer.alloc(0))).status).toBe(200);
    expect(await missing(sha256(''))).toEqual([]);
  });

  it('rejects a pack that is truncated, too large or has too many blobs', async () => {
    const post = async (pack: Uint8Array) => (await fixture.raw('POST', '/blobs', {}, pack)).status;
    const pack = packBlobs([Buffer.from('abc')]);
    expect(await post(pack.subarray(0, 5))).toBe(400);
    expect(await post(Buffer.from([255, 255, 255, 255]))).toBe(400);
    expect(await post(packBlobs([Buffer.alloc(MAX_BYTES)]))).toBe(413);
    expect(await post(packBlobs(Array.from({ length: 1001 }, () => new Uint8Array())))).toBe(413);
    expect(await missing(sha256('abc'))).toEqual([sha256('abc')]);
  });

  it('reports the faults of an invalid request', async () => {
    const ask = async (sha256s: unknown) =>
      (await fixture.user.post<ErrorBody>(`${fixture.base}/blobs/missing`, { sha256s })).body.fields;
    for (const wrong of [['abc'], [1], 'x', undefined, Array<string>(1001).fill(sha256(''))]) {
      expect(Object.keys((await ask(wrong)) ?? {})).toEqual(['sha256s']);
    }
  });

  it('is for members only', async () => {
    const stranger = await fixture.server.register();
    for (const [method, path] of [
      ['POST', '/blobs'],
      ['PUT', `/blobs/${sha256('x')}`],
      ['POST', '/blobs/missing'],
      ['POST', '/files/commit'],
    ] as const) {
      expect((await stranger.request(method, fixture.base + path, Buffer.alloc(MIB))).status).toBe(403);
    }
  });
});
