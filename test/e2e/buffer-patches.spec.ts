import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskJournal } from '@patchbay/client/home';
import { type Journal, RelayClient } from '@patchbay/client/relay';
import { sha256 } from '@patchbay/protocol/hash';
import {
  clientFileReader,
  CreateFileTool,
  type OpenBuffers,
  WorkspaceRoots,
  WritePatchTool,
} from '@patchbay/workspace';
import { allowsAll } from '../support/approvers.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { activeFile, TextsFixture } from '../support/texts-fixture.js';

describe('a model that works on an open unsaved file', () => {
  let setup: TextsFixture;
  let base: string;
  let journal: Journal;
  let client: RelayClient;
  let text = 'one\ntwo unsaved\n';
  const buffers: OpenBuffers = {
    isDirty: (docPath) => docPath === 'proj/a.ts',
    read: (docPath) => {
      if (docPath === 'proj/clean.ts')
        return Promise.resolve({ bytes: Buffer.from('one\ntwo\n'), isDirty: false });
      return Promise.resolve(docPath === 'proj/a.ts' ? { bytes: Buffer.from(text), isDirty: true } : null);
    },
    apply: (_docPath, expected, bytes) => {
      if (sha256(text) !== expected) return Promise.resolve(false);
      text = Buffer.from(bytes).toString();
      return Promise.resolve(true);
    },
  };

  beforeAll(async () => {
    setup = new TextsFixture(await RelayFixture.start());
    base = await mkdtemp(join(tmpdir(), 'patchbay-buffers-'));
    await mkdir(join(base, 'Proj'));
    await writeFile(join(base, 'Proj', 'A.ts'), 'one\ntwo\n');
    journal = await openDiskJournal(join(base, 'home'));
    const { server, user, workspaceId } = setup.fixture;
    const workspace = { roots: await WorkspaceRoots.open([{ directory: join(base, 'Proj') }]), buffers };
    client = new RelayClient({
      ...{ url: server.url, token: user.token, workspaceId, clientId: 'editor', journal },
      tools: {
        workspace_create_file: new CreateFileTool(workspace, allowsAll),
        workspace_write_patch: new WritePatchTool(workspace, allowsAll),
      },
      readFile: clientFileReader(workspace),
    });
    await client.connect();
  });
  afterAll(async () => {
    await client.close();
    await journal.close();
    await setup.fixture.close();
    await rm(base, { recursive: true, force: true });
  });

  it('reads and patches the file on disk when the editor has no unsaved changes but other bytes [PATCH-12]', async () => {
    await writeFile(join(base, 'Proj', 'clean.ts'), 'one\r\ntwo\r\n');
    await setup.write('/Proj/clean.ts', 'one\r\ntwo\r\n');
    await client.setActiveFiles(setup.session, [activeFile('proj/clean.ts', 'one\ntwo\n', false)]);
    const read = await setup.readFile('/Proj/clean.ts');
    expect(read).toMatchObject({ source: 'disk', sha256: sha256('one\r\ntwo\r\n') });
    const changes = [{ operation: 'insert', afterLine: 0, newLines: ['zero'] }];
    const patch = async (originalSha256: string) => {
      const files = [{ docPath: 'proj/clean.ts', originalSha256, changes }];
      const call = { toolCallId: originalSha256, name: 'workspace_write_patch', arguments: { files } };
      return (await setup.fixture.post([call], { waitMs: 20_000 })).body.result.toolResults[0];
    };
    const stale = await patch(sha256('one\ntwo\n'));
    expect(JSON.stringify(stale)).toContain(sha256('one\r\ntwo\r\n'));
    expect(await patch(read.sha256 as string)).toMatchObject({ status: 'succeeded', error: null });
    expect(await readFile(join(base, 'Proj', 'clean.ts'), 'utf8')).toBe('zero\r\none\r\ntwo\r\n');
  });

  it('reads and patches the unsaved text; the result is in the editor and the Cloud [PATCH-11]', async () => {
    await setup.write('/Proj/A.ts', 'one\ntwo\n');
    await client.setActiveFiles(setup.session, [activeFile('proj/a.ts', text)]);
    const read = await setup.readFile('/Proj/A.ts');
    expect(read).toMatchObject({ source: 'active', isDirty: true, content: text });
    const changes = [
      {
        ...{ operation: 'replace', startLine: 2, endLine: 2 },
        ...{ expectedOriginalLines: ['two unsaved'], newLines: ['two patched'] },
      },
    ];
    const files = [{ docPath: 'proj/a.ts', originalSha256: read.sha256, changes }];
    const call = { toolCallId: 'p', name: 'workspace_write_patch', arguments: { files } };
    const { body } = await setup.fixture.post([call], { waitMs: 20_000 });
    expect(body.result.toolResults[0]).toMatchObject({ status: 'succeeded', error: null });
    expect(text).toBe('one\ntwo patched\n');
    expect(await readFile(join(base, 'Proj', 'A.ts'), 'utf8')).toBe('one\ntwo\n');
    const { result } = await setup.call('read', { path: '/Proj/A.ts' }, null);
    expect(result).toMatchObject({ content: { text } });
  });

  it('replaces the whole text, in the editor and the Cloud [CREATE-6]', async () => {
    await setup.write('/Proj/A.ts', 'one\ntwo\n');
    const args = { path: 'Proj/A.ts', content: 'all new\n', overwrite: true };
    const call = { toolCallId: 'c', name: 'workspace_create_file', arguments: args };
    const { body } = await setup.fixture.post([call], { waitMs: 20_000 });
    expect(body.result.toolResults[0]).toMatchObject({
      ...{ status: 'succeeded', error: null },
      result: { overwritten: true, docPath: 'proj/a.ts', hash: sha256('all new\n') },
    });
    expect(text).toBe('all new\n');
    expect(await readFile(join(base, 'Proj', 'A.ts'), 'utf8')).toBe('one\ntwo\n');
    const { result } = await setup.call('read', { path: '/Proj/A.ts' }, null);
    expect(result).toMatchObject({ content: { text } });
  });
});
