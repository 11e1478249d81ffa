import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskJournal } from '@patchbay/client/home';
import { RelayClient } from '@patchbay/client/relay';
import { CreateFileTool, WorkspaceRoots } from '@patchbay/workspace';
import { allowsAll } from '../support/approvers.js';
import { RelayProxy } from '../support/relay-proxy.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { waitFor } from '../support/wait-for.js';

describe('a call with an unacknowledged delivery', () => {
  let fixture: RelayFixture;
  let proxy: RelayProxy;
  let base: string;
  const closing: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    fixture = await RelayFixture.start({ graceMs: 100, acknowledgeMs: 1_000 });
    proxy = await RelayProxy.to(Number(new URL(fixture.server.url).port));
    base = await mkdtemp(join(tmpdir(), 'patchbay-once-'));
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    proxy.close();
    await fixture.close();
    await rm(base, { recursive: true, force: true });
  });

  /** A client of the same user, with a folder and a journal of its own. */
  async function editor(clientId: string, url: string): Promise<string> {
    const folder = join(base, clientId, 'Repo');
    await mkdir(folder, { recursive: true });
    const journal = await openDiskJournal(join(base, clientId, 'home'));
    const roots = await WorkspaceRoots.open([{ directory: folder }]);
    const client = new RelayClient({
      ...{ url, token: fixture.user.token, workspaceId: fixture.workspaceId, clientId, journal },
      tools: { workspace_create_file: new CreateFileTool({ roots }, allowsAll) },
      backoffMs: { first: 20, longest: 50 },
    });
    await client.connect();
    closing.push(async () => {
      await client.close();
      await journal.close();
    });
    return folder;
  }

  it('is executed only by the client that gets it next [RELAY-14]', async () => {
    const first = await editor('first', proxy.url);
    proxy.hold('toServer');
    const { body } = await fixture.post([createCall('c', 'made.txt', 'once\n')]);
    await proxy.passed('tool:call');
    const second = await editor('second', fixture.server.url);
    // The server has to give up the first one's silence before.
    await waitFor(async () => (await readdir(second)).length > 0, 'the other client to write');
    const ended = await fixture.get(body.result.turnId, 5_000);
    expect(ended.body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
    proxy.reset();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await readdir(first)).toEqual([]);
    expect(await readFile(join(second, 'made.txt'), 'utf8')).toBe('once\n');
    expect(await fixture.steps('c')).not.toContain('LateResult');
  });
});
