import { jest } from '@jest/globals';
import { type CommittedFile, type FileChange, type FileCommitAnswer, packBlobs } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../../contract/backends.js';
import { FakeClient } from '../../support/fake-client.js';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

const MIB = 1024 * 1024;

describe('the changes of a commit [FILE-7]', () => {
  let fixture: ToolsFixture;
  const shared = suiteFixture(() => ToolsFixture.start());
  beforeEach(async () => void (fixture = await shared.elsewhere()));
  afterEach(() => jest.restoreAllMocks());

  const stores = () => storesOf(fixture.server.app);
  const send = (...texts: string[]) =>
    fixture.raw('POST', '/blobs', {}, packBlobs(texts.map((text) => Buffer.from(text))));
  const answerOf = (...files: FileChange[]) =>
    fixture.user.post<FileCommitAnswer>(`${fixture.base}/files/commit`, { files });
  const commit = async (...files: FileChange[]) => (await answerOf(...files)).body.files;
  const file = (path: string, content: string, base: string | null = null): FileChange => ({
    ...{ path, sha256: sha256(content), baseSha256: base === null ? null : sha256(base) },
  });
  const gone = (path: string, content: string): FileChange => ({
    ...{ path, deleted: true, baseSha256: sha256(content) },
  });

  it('of overlapping paths run in order: a folder is emptied, becomes a file and a folder again', async () => {
    await send('1', '2', '3');
    await commit(file('P/a/b', '1'));
    expect(await commit(gone('P/a/b', '1'), file('P', '2'))).toMatchObject([
      { path: '/P/a/b' },
      { path: '/P' },
    ]);
    expect(await fixture.list('/', true)).toEqual(['/P']);
    expect(await commit(gone('P', '2'), file('P/a', '3'))).toMatchObject([{ path: '/P' }, { path: '/P/a' }]);
    expect(await fixture.read('/P/a')).toEqual({ text: '3' });
  });

  it('replace a folder that has only folders in it by a file', async () => {
    await send('1');
    await fixture.ok('mkdir', { path: '/P/a/b' });
    await fixture.ok('mkdir', { path: '/P/c' });
    expect(await commit(file('P', '1'))).toMatchObject([{ path: '/P' }]);
    expect(await fixture.list('/', true)).toEqual(['/P']);
  });

  /** Does something between the first look into a folder that is to become a file and the next. */
  function onceLookedInto(act: () => Promise<unknown>): void {
    const { files } = stores();
    jest.spyOn(files, 'below').mockImplementationOnce(async (...given) => {
      const found = await files.below(...given);
      await act();
      return found;
    });
  }

  it('do not replace a folder that a file was added to', async () => {
    await send('1');
    await fixture.ok('mkdir', { path: '/P' });
    onceLookedInto(() => fixture.write('/P/late'));
    expect(await commit(file('P', '1'))).toMatchObject([{ error: { code: 'VALIDATION_ERROR' } }]);
    expect(await fixture.list('/', true)).toEqual(['/P', '/P/late']);
  });

  it('do not remove a file that another commit has put in place of the folder', async () => {
    await send('1', '2');
    await fixture.ok('mkdir', { path: '/P' });
    onceLookedInto(() => commit(file('P', '2')));
    expect(await commit(file('P', '1'))).toMatchObject([
      { error: { code: 'STALE', currentSha256: sha256('2') } },
    ]);
    expect(await fixture.read('/P')).toEqual({ text: '2' });
    expect((await fixture.trail('&event=File.Deleted')).length).toBe(0);
  });

  it('leave a folder unchanged for a file with another base', async () => {
    await send('1');
    await fixture.ok('mkdir', { path: '/P/a' });
    expect(await commit(file('P', '1', 'before'))).toMatchObject([{ error: { code: 'STALE' } }]);
    expect(await fixture.list('/', true)).toEqual(['/P', '/P/a']);
  });

  it('delete nothing when an upload has no place and is only kept', async () => {
    const { url } = fixture.server;
    const client = await FakeClient.ready({
      url,
      token: fixture.user.token,
      workspaceId: fixture.workspaceId,
    });
    const upload = { docPath: 'f', path: '/f', content: Buffer.from('late'), sha256: sha256('late') };
    const ack = await client.send('files:put', { ...upload, baseSha256: sha256('other') });
    expect(ack).toMatchObject({ ok: false, error: { code: 'STALE' } });
    expect(await commit(gone('f', 'late'))).toMatchObject([
      { error: { code: 'STALE', currentSha256: null } },
    ]);
    client.close();
  });

  it('fail together on a server error, and succeed when retried', async () => {
    await send('1', '2');
    jest.spyOn(stores().files, 'insert').mockRejectedValueOnce(new Error('The disk is gone'));
    const both = [file('a', '1'), file('b', '2')];
    expect((await answerOf(...both)).status).toBe(500);
    expect(await commit(...both)).toMatchObject([{ path: '/a' }, { path: '/b' }]);
  });

  /** How many of the bytes that a commit is of are read before the first file is stored. */
  async function readAhead(files: readonly FileChange[]): Promise<number> {
    const read = jest.spyOn(stores().blobs, 'read');
    const insert = jest.spyOn(stores().files, 'insert');
    const made = (await commit(...files)) as CommittedFile[];
    expect(made.map(({ path }) => path)).toEqual(files.map(({ path }) => path));
    const [first] = insert.mock.invocationCallOrder;
    return read.mock.invocationCallOrder.filter((order) => order < first!).length;
  }

  it('run in batches of one hundred', async () => {
    await send('1');
    const files = Array.from({ length: 101 }, (_, at) => file(`/${at}`, '1'));
    expect(await readAhead(files)).toBe(100);
  });

  it('run when they reach 16 MiB, however few they are', async () => {
    const texts = ['a', 'b', 'c'].map((char) => char.repeat(8 * MIB));
    for (const text of texts) await fixture.raw('PUT', `/blobs/${sha256(text)}`, {}, text);
    expect(await readAhead(texts.map((text, at) => file(`/${at}`, text)))).toBe(2);
  });
});
