import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskJournal } from '@patchbay/client/home';
import { type Journal, RelayClient } from '@patchbay/client/relay';
import { sha256 } from '@patchbay/protocol/hash';
import { clientFileReader, WorkspaceRoots } from '@patchbay/workspace';
import { aRoot } from '../support/fake-client.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { TextsFixture } from '../support/texts-fixture.js';

describe('a model that reads from a connected folder', () => {
  let setup: TextsFixture;
  let base: string;
  let folder: string;
  let journal: Journal;
  let client: RelayClient;

  beforeAll(async () => {
    setup = new TextsFixture(await RelayFixture.start());
    base = await mkdtemp(join(tmpdir(), 'patchbay-folder-reads-'));
    folder = join(base, 'Proj');
    await mkdir(folder);
    await writeFile(join(folder, '.gitignore'), '.env\n');
    journal = await openDiskJournal(join(base, 'home'));
    const { server, user, workspaceId } = setup.fixture;
    client = new RelayClient({
      ...{ url: server.url, token: user.token, workspaceId, clientId: 'cli', journal, tools: {} },
      roots: [aRoot('Proj')],
      readFile: clientFileReader({ roots: await WorkspaceRoots.open([{ directory: folder }]) }),
    });
    await client.connect();
  });
  afterAll(async () => {
    await client.close();
    await journal.close();
    await setup.fixture.close();
    await rm(base, { recursive: true, force: true });
  });

  it('reads edits since the last push', async () => {
    await setup.write('/Proj/a.ts', 'pushed\n');
    await writeFile(join(folder, 'a.ts'), 'edited\n');
    const result = await setup.readFile('/Proj/a.ts');
    expect(result).toMatchObject({ source: 'disk', content: 'edited\n', sha256: sha256('edited\n') });
    expect(result.warnings).toEqual([expect.stringContaining(sha256('pushed\n'))]);
  });

  it('reads binary files as a whole, up to the size limit', async () => {
    const text = 'ü\n'.repeat(400_000);
    await writeFile(join(folder, 'large.txt'), text);
    const result = await setup.readFile('proj/large.txt', { maxBytes: 8 * 1024 * 1024 });
    expect([result.source, result.content === text]).toEqual(['disk', true]);
  });

  it('is refused files that git ignores and the targets of links [RELAY-25]', async () => {
    await writeFile(join(folder, '.env'), 'TOKEN=secret');
    await writeFile(join(base, 'outside.txt'), 'secret');
    await symlink(join(base, 'outside.txt'), join(folder, 'link.txt'));
    for (const path of ['.env', 'link.txt']) {
      const { success, error, result } = await setup.call('workspace_read_file', { docPath: `Proj/${path}` });
      expect(success === true || JSON.stringify([error, result]).includes('secret')).toBe(false);
      await setup.write(`/Proj/${path}`, 'cloud\n');
      const answer = await setup.readFile(`Proj/${path}`);
      expect(answer).toMatchObject({ source: 'cloud', content: 'cloud\n' });
      expect(answer.warnings).toEqual([expect.stringContaining('it refuses (FORBIDDEN')]);
    }
  });

  it('is told that a file was deleted, and of a file that differs by case', async () => {
    await setup.write('/Proj/gone.ts', 'cloud\n');
    expect((await setup.readFile('Proj/gone.ts')).warnings).toEqual([
      expect.stringContaining('it was deleted there or never written'),
    ]);
    await setup.write('/Proj/twin.ts', 'cloud\n');
    await writeFile(join(folder, 'twin.ts'), 'a');
    await writeFile(join(folder, 'Twin.ts'), 'b');
    expect((await setup.readFile('Proj/twin.ts')).warnings).toEqual([
      expect.stringContaining('differ only by case'),
    ]);
  });
});
