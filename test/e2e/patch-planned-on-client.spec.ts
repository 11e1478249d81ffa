import { sha256 } from '@patchbay/protocol/hash';
import { type FakeClient, givenFile } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { activeFile, TextsFixture } from '../support/texts-fixture.js';

describe('a patch that was planned on the text of a client', () => {
  const server = suiteFixture(() => startTestServer({ clock }));
  const user = suiteFixture(() => server.register());
  let setup: TextsFixture;
  const clock = new ShiftedClock();
  let client: FakeClient;
  beforeEach(async () => {
    setup = new TextsFixture(await RelayFixture.on(server, user));
    client = await setup.client('cli', ['Proj']);
    await setup.write('/Proj/a.ts', 'cloud\n');
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
  });
  afterEach(() => setup.fixture.close());

  const post = (original: string, line?: string) => postAll(['proj/a.ts'], original, line);
  const postAll = async (docPaths: string[], original: string, line = original.trimEnd()) => {
    const change = { operation: 'replace', startLine: 1, endLine: 1 };
    const changes = [{ ...change, expectedOriginalLines: [line], newLines: ['new'] }];
    const files = docPaths.map((docPath) => ({ docPath, originalSha256: sha256(original), changes }));
    const call = { toolCallId: 'p', name: 'workspace_write_patch', arguments: { files } };
    const { result } = (await setup.fixture.post([call])).body;
    return result.toolResults[0]?.error ?? null;
  };
  const put = (text: string, more: object = {}) => {
    const file = { docPath: 'proj/a.ts', path: '/Proj/a.ts', content: Buffer.from(text) };
    return client.send('files:put', { ...file, sha256: sha256(text), baseSha256: null, ...more });
  };

  it('is checked by the client where the folder is connected [PATCH-10]', async () => {
    expect((await setup.readFile('Proj/a.ts')).sha256).toBe(sha256('disk\n'));
    expect(await post('disk\n')).toBeNull();
    expect((await client.delivery()).batch?.files[0]).toMatchObject({ originalSha256: sha256('disk\n') });
  });

  it('does not overwrite Cloud text that the folder does not have [PATCH-12]', async () => {
    await post('disk\n');
    const { callId, batch } = await client.delivery();
    const { filePatchId } = batch!.files[0]!;
    const answer = await put('new\n', { callId, filePatchId });
    expect(answer).toMatchObject({
      ok: false,
      error: { code: 'STALE', details: { currentSha256: sha256('cloud\n') } },
    });
    expect((await setup.call('read', { path: '/Proj/a.ts' })).result.content).toEqual({ text: 'cloud\n' });
  });

  it('becomes the head when the folder’s text has reached the Cloud meanwhile [PATCH-12]', async () => {
    await post('disk\n');
    const { callId, batch } = await client.delivery();
    expect(await put('disk\n', { baseSha256: sha256('cloud\n') })).toMatchObject({ ok: true });
    const { filePatchId } = batch!.files[0]!;
    expect(await put('new\n', { callId, filePatchId })).toMatchObject({ ok: true });
    expect((await setup.call('read', { path: '/Proj/a.ts' })).result.content).toEqual({ text: 'new\n' });
  });

  it('is accepted for an open file with an outdated list, and checked against its text [PATCH-12]', async () => {
    await setup.open(activeFile('proj/a.ts', 'listed\n'));
    client.giveFile = () => givenFile('typed on\n', { isDirty: true });
    expect((await setup.readFile('proj/a.ts')).sha256).toBe(sha256('typed on\n'));
    expect(await post('typed on\n', 'other')).toMatchObject({ code: 'LINES_MISMATCH' });
    expect(await post('typed on\n')).toBeNull();
  });

  it('is STALE for an open file after clients were asked for five seconds [PATCH-12]', async () => {
    await setup.open(activeFile('proj/a.ts', 'listed\n'), activeFile('proj/b.ts', 'listed\n'));
    let asked = 0;
    client.giveFile = () => {
      asked += 1;
      clock.pass(5_000);
      return givenFile('typed on\n', { isDirty: true });
    };
    const error = await postAll(['proj/a.ts', 'proj/b.ts'], 'typed on\n');
    expect(error).toMatchObject({ code: 'STALE', details: { faults: [{ docPath: 'proj/b.ts' }] } });
    expect(asked).toBe(1);
  });

  it('is checked by the client for an open file without unsaved changes, against the disk [PATCH-12]', async () => {
    await setup.open(activeFile('proj/a.ts', 'as the editor has it\n', false));
    client.giveFile = () => ({ ok: false, error: { code: 'RATE_LIMITED', message: '' } });
    for (const text of ['disk\n', 'as the editor has it\n', 'cloud\n'])
      expect([text, await post(text)]).toEqual([text, null]);
    expect(await post('cloud\n', 'other')).toMatchObject({ code: 'LINES_MISMATCH' });
  });

  it('is STALE for an open file of which the client has another text or none [PATCH-12]', async () => {
    await setup.open(activeFile('proj/a.ts', 'listed\n'));
    client.giveFile = () => givenFile('typed on\n', { isDirty: true });
    expect(await post('older\n')).toMatchObject({ code: 'STALE' });
    client.giveFile = () => ({ ok: false, error: { code: 'NOT_FOUND', message: '' } });
    expect(await post('typed on\n')).toMatchObject({ code: 'STALE' });
    expect(await post('listed\n')).toBeNull();
  });
});
