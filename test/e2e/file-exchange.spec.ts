import { sha256 } from '@patchbay/protocol/hash';
import { Bus } from '../../src/events/bus.js';
import type { BusMessage } from '../../src/events/messages.js';
import { nodeChannel } from '../../src/events/channels.js';
import { NodeId } from '../../src/storage/ports/node-id.js';
import type { RecordDeclaration } from '../../src/storage/records/declaration.js';
import { FileRequestStore } from '../../src/storage/records/file-requests.js';
import { RecordStore } from '../../src/storage/records/record-store.js';
import { jest } from '@jest/globals';
import { givenFile } from '../support/fake-client.js';
import { activeFile, TextsFixture } from '../support/texts-fixture.js';
import { waitFor } from '../support/wait-for.js';
import { onTwoNodes, type TwoNodes } from '../support/two-nodes.js';

describe('a file that a client on another node holds', () => {
  const nodes = onTwoNodes();
  let two: TwoNodes;
  let local: TextsFixture;
  let there: TextsFixture;
  beforeEach(() => {
    two = nodes();
    local = new TextsFixture(two.a);
    there = new TextsFixture(two.b);
  });

  it('is read from that node as a whole [RELAY-24]', async () => {
    const client = await there.client('cli', ['Proj']);
    const text = 'ü\n'.repeat(300_000);
    client.giveFile = () => givenFile(text, { source: 'disk' });
    const maxBytes = 1024 * 1024;
    const result = await local.readFile('/Proj/large.txt', { maxBytes });
    expect([result.source, result.sha256, result.content === text]).toEqual(['disk', sha256(text), true]);
    expect(client.reads).toEqual([{ docPath: 'proj/large.txt', maxBytes }]);
  });

  it('is read from that node rather than from a local client that the session does not use [RELAY-24]', async () => {
    const other = await local.client('other');
    other.giveFile = () => givenFile('other\n');
    await local.fixture.newSession('editor');
    const editor = await there.client('editor');
    editor.giveFile = () => givenFile('open\n', { isDirty: true });
    await local.open(activeFile('proj/a.ts', 'open\n'));
    expect(await local.readFile('proj/a.ts')).toMatchObject({ source: 'active', content: 'open\n' });
    expect(other.reads).toEqual([]);
  });

  it('is refused by that node with the reason', async () => {
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => ({ ok: false, error: { code: 'FORBIDDEN', message: 'ignored' } });
    await local.write('/Proj/.env', 'cloud\n');
    const result = await local.readFile('proj/.env');
    expect(result).toMatchObject({ source: 'cloud', content: 'cloud\n' });
    expect(result.warnings).toEqual([expect.stringContaining('FORBIDDEN')]);
  });

  it('is given up when the client there does not answer in time', async () => {
    (await there.client('cli', ['proj'])).giveFile = null;
    await local.write('/Proj/a.ts', 'cloud\n');
    const result = await local.readFile('proj/a.ts', { maxBytes: 1_024 });
    expect(result.warnings).toEqual([expect.stringContaining('it did not answer')]);
  });

  it('is never read from another user’s client', async () => {
    const stranger = await two.servers.b.register();
    await two.a.user.addMember(two.a.workspaceId, stranger);
    const foreign = await two.b.client({ token: stranger.token, clientId: 'editor' });
    foreign.giveFile = () => givenFile('foreign\n');
    await local.open(activeFile('proj/a.ts', 'foreign\n'));
    expect((await local.readFile('proj/a.ts')).success).toBe(false);
    expect(foreign.reads).toEqual([]);
  });

  it('is requested from no node without a client of the user, and at once when one connects', async () => {
    await local.write('/Proj/a.ts', 'cloud\n');
    const asked = jest.spyOn(two.servers.a.app.get(FileRequestStore), 'ask');
    expect(await local.readFile('proj/a.ts')).toMatchObject({ source: 'cloud' });
    expect(asked).not.toHaveBeenCalled();
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
    expect(await local.readFile('proj/a.ts')).toMatchObject({ source: 'disk', content: 'disk\n' });
  });

  it.each(['cut', 'faulty'] as const)('is read once over a bus that is %s', async (line) => {
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
    await local.write('/Proj/a.ts', 'cloud\n');
    two.nodes.network.line = line;
    for (let n = 0; n < 5; n += 1) {
      expect(await local.readFile('proj/a.ts')).toMatchObject({ source: 'disk', content: 'disk\n' });
    }
    expect(client.reads).toHaveLength(5);
  });

  it('is not read again for a repeated message', async () => {
    const client = await there.client('cli', ['proj']);
    client.giveFile = () => givenFile('disk\n', { source: 'disk' });
    const bus = two.servers.b.app.get(Bus);
    const { value } = two.servers.b.app.get(NodeId);
    const requests: BusMessage[] = [];
    bus.subscribe(nodeChannel(value), (message) => requests.push(message));
    await local.readFile('proj/a.ts');
    expect(requests).toEqual([{ type: 'file_wanted', to: value }]);
    bus.publish(requests[0]!);
    await local.readFile('proj/b.ts');
    expect(client.reads.map(({ docPath }) => docPath)).toEqual(['proj/a.ts', 'proj/b.ts']);
  });

  it('leaves nothing in the store, and no member gets it by its sha256 [RELAY-23]', async () => {
    const client = await there.client('editor', ['proj']);
    const text = 'private\n';
    client.giveFile = () => givenFile(text, { isDirty: true });
    await local.open(activeFile('proj/a.ts', text));
    const member = await two.servers.a.register();
    await two.a.user.addMember(two.a.workspaceId, member);
    const byHash = async (): Promise<number[]> => {
      const path = `/workspaces/${two.a.workspaceId}/blobs/read`;
      const asked = { sha256s: [sha256(text)] };
      const answers = await Promise.all([two.a.user.post(path, asked), member.post(path, asked)]);
      return answers.map(({ status }) => status);
    };
    const inBetween: number[] = [];
    const exchange = two.servers.a.app.get(FileRequestStore);
    const contentOf = exchange.contentOf.bind(exchange);
    jest.spyOn(exchange, 'contentOf').mockImplementation(async (answer) => {
      inBetween.push(...(await byHash()));
      return contentOf(answer);
    });
    expect(await local.readFile('proj/a.ts')).toMatchObject({ source: 'active', content: text });
    expect([...inBetween, ...(await byHash())]).toEqual([404, 404, 404, 404]);
    await waitFor(async () => (await transientRecords(two)) === 0, 'the end of the request');
  });

  it('is requested once from a dead node and then not again for a minute', async () => {
    await there.client('cli', ['proj']);
    await local.write('/Proj/a.ts', 'cloud\n');
    jest.spyOn(two.servers.b.app.get(FileRequestStore), 'wantedOf').mockResolvedValue([]);
    const asked = jest.spyOn(two.servers.a.app.get(FileRequestStore), 'ask');
    for (let n = 0; n < 3; n += 1) {
      const { source, warnings } = await local.readFile('proj/a.ts', { maxBytes: 1_024 });
      expect([source, warnings]).toEqual(['cloud', [expect.stringContaining('it did not answer')]]);
    }
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

/** How many records of files on their way there are. */
async function transientRecords({ servers }: TwoNodes): Promise<number> {
  const records = servers.a.app.get(RecordStore);
  let count = 0;
  for (const declaration of FileRequestStore.declarations) {
    const all = records.all<object>(declaration as unknown as RecordDeclaration<object>);
    while ((await all.next()).done !== true) count += 1;
  }
  return count;
}
