import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryTokenStore } from '@patchbay/client';
import { clientDirectory, openDiskJournal, rootIdOf } from '@patchbay/client/home';
import { RelayClient, type RunTool } from '@patchbay/client/relay';
import { sha256 } from '@patchbay/protocol/hash';
import { type Approver, executeCreateFile, executeWritePatch, WorkspaceRoots } from '@patchbay/workspace';
import { allowsAll } from '../support/approvers.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { runSnippet, snippetOf } from '../support/snippets.js';
import { waitFor } from '../support/wait-for.js';

describe('The editor in the README', () => {
  let fixture: RelayFixture;
  let base: string;
  let directory: string;
  const closing: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    fixture = await RelayFixture.start();
    base = await mkdtemp(join(tmpdir(), 'patchbay-readme-'));
    directory = join(base, 'Repo');
    await mkdir(directory);
    await writeFile(join(directory, 'old.txt'), 'old\n');
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await fixture.close();
    await rm(base, { recursive: true, force: true });
  });

  const clientId = 'editor';
  const home = () => join(base, 'home');
  const where = () => ({ url: fixture.server.url, workspaceId: fixture.workspaceId, clientId });
  const connect = async () => {
    const tokens = { accessToken: fixture.user.token, refreshToken: null, expiresAt: null };
    const tokenStore = new MemoryTokenStore(tokens);
    const askInMyEditor: Approver['decide'] = (...asked) => allowsAll.decide(...asked);
    const given = { ...where(), home: home(), tokenStore, directory, askInMyEditor };
    const code = await snippetOf('README.md', 'For editors', 'ts');
    const relay = await runSnippet<RelayClient>(code, given, 'relay');
    closing.push(() => relay.close());
  };
  /** The same client, which stops after the write and before the report. */
  const connectDying = async () => {
    const roots = await WorkspaceRoots.open([{ directory }]);
    const journal = await openDiskJournal(clientDirectory(home(), where()));
    const forever = new Promise<never>(() => {});
    let written = 0;
    const dying =
      (write: (...args: Parameters<RunTool>) => Promise<unknown>): RunTool =>
      async (call, context) => {
        await context.start(await allowsAll.decide({ call, files: [] }, context.signal));
        await write(call, context);
        written += 1;
        return forever;
      };
    const client = new RelayClient({
      ...{ ...where(), token: fixture.user.token, journal },
      roots: [{ name: 'Repo', docPath: 'repo', rootId: await rootIdOf(directory, home()) }],
      tools: {
        workspace_create_file: dying((call, { writeLog }) =>
          executeCreateFile({ roots }, call.arguments, writeLog),
        ),
        workspace_write_patch: dying((call, { writeLog }) =>
          executeWritePatch({ roots }, call.batch!, null, writeLog),
        ),
      },
    });
    await client.connect();
    return {
      /** Resolves when both files are written and the journal is closed. */
      dead: async () => {
        await waitFor(() => written === 2, 'both calls to be written');
        await journal.close();
      },
    };
  };
  const calls = () => [
    createCall('c', 'new.txt', 'new\n'),
    {
      ...{ toolCallId: 'p', name: 'workspace_write_patch' },
      arguments: {
        files: [
          {
            ...{ docPath: 'repo/old.txt', originalSha256: sha256('old\n') },
            changes: [{ operation: 'insert', afterLine: 1, newLines: ['line'] }],
          },
        ],
      },
    },
  ];
  const expectWritten = async () => {
    expect((await readdir(directory)).sort()).toEqual(['new.txt', 'old.txt']);
    const read = async (path: string) => {
      const { body } = await fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, {
        ...{ tool: 'read', args: { path } },
      });
      return (body as { result: { content: { text: string } } }).result.content.text;
    };
    expect(await Promise.all(['/Repo/new.txt', '/Repo/old.txt'].map(read))).toEqual(['new\n', 'old\nline\n']);
  };

  it('executes calls and uploads what it has written', async () => {
    await connect();
    const { body } = await fixture.post(calls(), { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    await expectWritten();
  });

  it('finishes and reports calls that a kill has interrupted', async () => {
    const { dead } = await connectDying();
    const { body } = await fixture.post(calls());
    await dead();
    await connect();
    const ended = await fixture.get(body.result.turnId, 20_000);
    expect(ended.body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { created: true } },
      { status: 'succeeded', result: { files: [{ versionId: expect.any(String) as string }] } },
    ]);
    await expectWritten();
  });

  it('reports a create and a patch that it had written before the turn was cancelled', async () => {
    const { dead } = await connectDying();
    const { body } = await fixture.post(calls());
    await dead();
    await fixture.cancel(body.result.turnId);
    await connect();
    for (const toolCallId of ['c', 'p'])
      await waitFor(
        async () => (await fixture.steps(toolCallId)).includes('LateResult'),
        `${toolCallId}, late`,
      );
    await expectWritten();
  });
});
