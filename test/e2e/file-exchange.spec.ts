import { sha256 } from '@patchbay/protocol/hash';
import { Bus, type BusMessage } from '../../src/events/bus.js';
import { NodeFiles } from '../../src/clients/node-files.js';
import { jest } from '@jest/globals';
import { givenFile } from '../support/fake-client.js';
import type { NetworkBus } from '../support/nodes.js';
import { activeFile, TextsDesk } from '../support/texts-desk.js';
import { onTwoNodes, type TwoNodes } from '../support/two-nodes.js';

describe('a file that a client on another node holds', () => {
  const nodes = onTwoNodes();
  let two: TwoNodes;
  let here: TextsDesk;
  let there: TextsDesk;
  beforeEach(() => {
    two = nodes();
    here = new TextsDesk(two.a);
    there = new TextsDesk(two.b);
  });

  it('is read from there, whole [RELAY-24]', async () => {
    const client = await there.client('cli', ['Proj']);
    const text = 'ü\n'.repeat(300_000);
    client.giveFile = () => givenFile(text, { source: 'disk' });
    const maxBytes = 1024 * 1024;
    const result = await here.readFile('/Proj/large.txt', { maxBytes });
    expect([result.source, result.sha256, result.content === text]).toEqual(['disk', sha256(text), true]);
    expect(client.reads).toEqual([{ docPath: 'proj/large.txt', maxBytes }]);
  });

  it('is read there before a client here that the session does not use [RELAY-24]', async () => {
    const other = await here.client('other');
    other.giveFile = () => givenFile('other\n');
    await here.scene.newSession('editor');
    const editor = await there.client('editor');
    editor.giveFile = () => givenFile('open\n', { isDirty: true });
    await here.open(activeFile('proj/a.ts', 'open\n'));
    expect(await here.readFile('proj/a.ts')).toMatchObject({ source: 'active', content: 'open\n' });
    expect(other.reads).toEqual([]);
  });

  it('is refused from there with the reason', async () => {
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => ({ ok: false, error: { code: 'FORBIDDEN', message: 'ignored' } });
    await here.write('/Proj/.env', 'cloud\n');
    const result = await here.readFile('proj/.env');
    expect(result).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    expect(result.warnings).toEqual([expect.stringContaining('FORBIDDEN')]);
  });

  it('is not waited for where the client there does not answer in its time', async () => {
    (await there.client('cli', ['proj'])).giveFile = null;
    await here.write('/Proj/a.ts', 'cloud\n');
    const result = await here.readFile('proj/a.ts', { maxBytes: 1_024 });
    expect(result.warnings).toEqual([expect.stringContaining('it did not answer')]);
  });

  it('is never another user’s', async () => {
    const stranger = await two.servers.b.register();
    await two.a.user.addMember(two.a.workspaceId, stranger);
    const foreign = await two.b.client({ token: stranger.token, clientId: 'editor' });
    foreign.giveFile = () => givenFile('foreign\n');
    await here.open(activeFile('proj/a.ts', 'foreign\n'));
    expect((await here.readFile('proj/a.ts')).success).toBe(false);
    expect(foreign.reads).toEqual([]);
  });

  it('is looked for there once in a while where nobody has it, and at once when a client connects', async () => {
    await here.write('/Proj/a.ts', 'cloud\n');
    const asked = jest.spyOn(two.servers.b.app.get(NodeFiles), 'hasCandidates');
    for (let n = 0; n < 3; n += 1) {
      expect(await here.readFile('proj/a.ts')).toMatchObject({ source: 'cloud' });
    }
    expect(asked).toHaveBeenCalledTimes(1);
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
    expect(await here.readFile('proj/a.ts')).toMatchObject({ source: 'disk', content: 'disk\n' });
  });

  it('is the Cloud’s while the nodes can’t hear each other, and is read once through messages that come twice', async () => {
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
    await here.write('/Proj/a.ts', 'cloud\n');
    two.nodes.network.line = 'cut';
    expect(await here.readFile('proj/a.ts')).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    two.nodes.network.line = 'faulty';
    for (let n = 0; n < 5; n += 1) {
      const { source, content } = await here.readFile('proj/a.ts');
      expect(`${String(source)} ${String(content)}`).toMatch(/^(?:disk disk|cloud cloud)\n$/);
    }
    expect(client.reads.length).toBeLessThanOrEqual(5);
  });

  it('is not read again for a message that comes once more when all is over', async () => {
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
    const { messages$ } = two.servers.b.app.get<NetworkBus>(Bus);
    const wanted: BusMessage[] = [];
    messages$.subscribe((message) => message.type === 'file_wanted' && wanted.push(message));
    await here.readFile('proj/a.ts');
    messages$.next(wanted[0]!);
    await here.readFile('proj/b.ts');
    expect(client.reads.map(({ docPath }) => docPath)).toEqual(['proj/a.ts', 'proj/b.ts']);
  });
});
