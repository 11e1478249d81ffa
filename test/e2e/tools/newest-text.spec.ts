import { sha256 } from '@patchbay/protocol/hash';
import { aRoot, FakeClient, givenFile } from '../../support/fake-client.js';
import { suiteFixture } from '../../support/fixtures.js';
import { RelayFixture } from '../../support/relay-fixture.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { startTestServer } from '../../support/server.js';
import { activeFile, TextsFixture } from '../../support/texts-fixture.js';

describe('workspace_read_file', () => {
  const server = suiteFixture(() =>
    startTestServer({ clock, config: { maxFileBytes: 64 * 1024, fileReadMs: 500 } }),
  );
  const user = suiteFixture(() => server.register());
  let setup: TextsFixture;
  const clock = new ShiftedClock();
  beforeEach(async () => {
    setup = new TextsFixture(await RelayFixture.on(server, user));
  });
  afterEach(() => setup.fixture.close());

  it('returns the open text of an Active File with its holder and what to patch against [TOOL-1]', async () => {
    await setup.write('/Proj/a.ts', 'cloud\n');
    await setup.open(activeFile('proj/a.ts', 'buffer\nmore\n'));
    const client = await setup.client('editor');
    client.giveFile = () => givenFile('buffer\nmore\n', { isDirty: true });
    const result = await setup.readFile('/Proj/A.ts', { numbered: true, startLine: 2 });
    expect(result).toMatchObject({
      ...{ success: true, source: 'active', isDirty: true, sha256: sha256('buffer\nmore\n') },
      ...{ content: '2\tmore\n', lineCount: 2, sizeBytes: 12, docPath: 'proj/a.ts', path: '/Proj/a.ts' },
    });
    expect(result.warnings).toEqual([expect.stringContaining(`The Cloud has a different text of this file`)]);
    expect(client.reads).toEqual([{ docPath: 'proj/a.ts', maxBytes: 64 * 1024 }]);
  });

  it('returns the text on disk of a connected folder, for any spelling of the path [TOOL-1]', async () => {
    await setup.write('/Proj/src/x.ts', 'same\n');
    const client = await setup.client('cli', ['Proj']);
    client.giveFile = () => givenFile('same\n', { source: 'disk' });
    const result = await setup.readFile('proj/SRC/X.ts');
    expect(result).toMatchObject({ source: 'disk', content: 'same\n', path: '/Proj/src/x.ts' });
    expect(Object.keys(result)).not.toContain('isDirty');
    expect(Object.keys(result)).not.toContain('warnings');
    client.giveFile = () => givenFile('new here\n', { source: 'disk' });
    const other = await setup.readFile('/Proj/src/new.ts');
    expect(other).toMatchObject({ source: 'disk', content: 'new here\n' });
    expect(other.warnings).toEqual(['The Cloud does not have this file.']);
  });

  it('returns the Cloud text outside connected folders without asking a client', async () => {
    await setup.write('/Other/x.ts', 'cloud\n');
    const client = await setup.client('cli', ['Proj', 'Oth']);
    const result = await setup.readFile('/Other/x.ts');
    expect(result).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    expect(Object.keys(result)).not.toContain('warnings');
    expect(client.reads).toEqual([]);
  });

  it('asks no client that has not resumed yet [RELAY-3]', async () => {
    await setup.write('/Proj/a.ts', 'cloud\n');
    const client = await FakeClient.connect(setup.fixture.clientOptions({ roots: [aRoot('Proj')] }));
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
    expect(await setup.readFile('/Proj/a.ts')).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    await client.resume([]);
    expect(await setup.readFile('/Proj/a.ts')).toMatchObject({ source: 'disk', content: 'disk\n' });
    expect(client.reads).toHaveLength(1);
    client.close();
  });

  it('returns the Cloud text with a warning when the editor is not connected [TOOL-2]', async () => {
    await setup.write('/Proj/a.ts', 'cloud\n');
    await setup.open(activeFile('proj/a.ts', 'buffer\n'));
    const result = await setup.readFile('proj/a.ts');
    expect(result).toMatchObject({ success: true, source: 'cloud', content: 'cloud\n' });
    expect(result.warnings).toEqual([expect.stringContaining(sha256('buffer\n'))]);
    expect(result.warnings![0]).toContain('no such client is connected');
  });

  it('reports when neither has a text [TOOL-2]', async () => {
    await setup.open(activeFile('proj/a.ts', 'buffer\n'));
    const { success, result } = await setup.call('workspace_read_file', { docPath: 'proj/a.ts' });
    expect([success, result.success, result.errorCode]).toEqual([false, false, 'ALREADY_IN_CONTEXT']);
    expect(result.sha256).toBe(sha256('buffer\n'));
  });

  it.each([
    ['has deleted the file', 'NOT_FOUND', 'does not have this file'],
    ['is not to show the file', 'FORBIDDEN', 'it refuses (FORBIDDEN, "ignored")'],
    ['has more than is taken', 'TOO_LARGE', 'it refuses (TOO_LARGE, "ignored")'],
  ])('returns the Cloud text with a warning where the folder %s [TOOL-2]', async (_what, code, why) => {
    await setup.write('/Proj/a.ts', 'cloud\n');
    const client = await setup.client('cli', ['proj']);
    client.giveFile = () => ({ ok: false, error: { code, message: 'ignored' } });
    const result = await setup.readFile('proj/a.ts');
    expect(result).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    expect(result.warnings).toEqual([expect.stringContaining(why)]);
  });

  it('rejects an answer with a wrong hash and asks again [RELAY-23]', async () => {
    await setup.write('/Proj/a.ts', 'cloud\n');
    const client = await setup.client('cli', ['proj']);
    client.giveFile = () => givenFile('lie\n', { sha256: sha256('truth\n') });
    const result = await setup.readFile('proj/a.ts');
    expect(result).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    expect(result.warnings).toEqual([expect.stringContaining('it did not answer')]);
    client.giveFile = () => givenFile('truth\n', { source: 'disk' });
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'disk', content: 'truth\n' });
  });

  it('waits for an answer up to a limit, and then does not ask that connection for a minute [RELAY-23]', async () => {
    await setup.write('/Proj/a.ts', 'cloud\n');
    const client = await setup.client('cli', ['proj']);
    client.giveFile = null;
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    client.giveFile = () => givenFile('late\n');
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'cloud' });
    expect(client.reads).toHaveLength(1);
    clock.pass(59_000);
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'cloud' });
    clock.pass(1_000);
    client.giveFile = () => givenFile('awake\n', { source: 'disk' });
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'disk', content: 'awake\n' });
    client.giveFile = null;
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'cloud' });
    client.close();
    await client.closed();
    const again = await setup.client('cli', ['proj']);
    again.giveFile = () => givenFile('here\n', { source: 'disk' });
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'disk', content: 'here\n' });
  });

  it('asks a client once for concurrent reads of a file, and for at most four files at a time [RELAY-23]', async () => {
    const client = await setup.client('cli', ['proj']);
    let held: { docPath: string; answer: () => void }[] = [];
    client.socket.off('file:read').on('file:read', (read, ack) => {
      client.reads.push(read);
      const { docPath } = read;
      held.push({ docPath, answer: () => ack(givenFile(docPath, { source: 'disk' }) as never) });
    });
    const names = ['a', 'a', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => `proj/${name}`);
    const reads = Promise.all(names.map((name) => setup.readFile(name)));
    const asked = new Set<string>();
    while (asked.size < 6) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(held.length).toBeLessThanOrEqual(4);
      for (const { docPath } of client.reads) asked.add(docPath);
      // The file that many read comes last: by then all of them have asked for it.
      for (const { docPath, answer } of held) if (docPath !== 'proj/a' || asked.size === 6) answer();
      held = held.filter(({ docPath }) => docPath === 'proj/a');
    }
    expect((await reads).map(({ content }) => content)).toEqual(names);
    expect(client.reads).toHaveLength(6);
  });

  it('asks only clients of the session for an open file, and no other clients of the user [RELAY-24]', async () => {
    const stranger = await server.register();
    await user.addMember(setup.fixture.workspaceId, stranger);
    const foreign = await setup.fixture.client({ token: stranger.token, clientId: 'bound' });
    foreign.giveFile = () => givenFile('foreign\n');
    await setup.fixture.newSession('bound');
    const bound = await setup.client('bound');
    const other = await setup.client('other', ['proj']);
    bound.giveFile = () => givenFile('bound\n');
    other.giveFile = () => givenFile('other\n', { source: 'disk' });
    await setup.open(activeFile('proj/a.ts', 'bound\n'));
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'active', content: 'bound\n' });
    expect([foreign.reads.length, other.reads.length]).toEqual([0, 0]);
    bound.giveFile = () => ({ ok: false, error: { code: 'NOT_FOUND', message: '' } });
    expect(await setup.readFile('proj/a.ts')).toMatchObject({ source: 'disk', content: 'other\n' });
  });
});
