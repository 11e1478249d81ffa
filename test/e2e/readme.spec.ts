import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryTokenStore } from '@patchbay/client';
import { clientDirectory, openDiskJournal, rootIdOf } from '@patchbay/client/home';
import { RelayClient, type RunTool } from '@patchbay/client/relay';
import { sha256 } from '@patchbay/protocol/hash';
import { type Approver, executeCreateFile, executeWritePatch, WorkspaceRoots } from '@patchbay/workspace';
import { allowsAll } from '../support/approvers.js';
import { createCall, RelayScene } from '../support/relay-scene.js';
import { waitFor } from '../support/wait-for.js';

/** The editor of "Connect an editor", as it stands in the README: a function of the names that it leaves to the reader. */
async function readmeEditor(given: Record<string, unknown>): Promise<RelayClient> {
  const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8');
  const [, code] = /^## Connect an editor\n\n```ts\n([^]*?)^```$/m.exec(readme)!;
  const names = { ...given };
  const body = code!.replace(/^import \{(.*)\} from '(.*)';$/gm, (_, list: string, specifier: string) => {
    for (const name of list.split(',')) names[name.trim()] = imported(specifier, name.trim());
    return '';
  });
  const AsyncFunction = Object.getPrototypeOf(readmeEditor) as { constructor: FunctionConstructor };
  const editor = new AsyncFunction.constructor(...Object.keys(names), `${body}\nreturn relay;`);
  const values = await Promise.all(Object.values(names));
  return (editor as (...values: unknown[]) => ReturnType<typeof readmeEditor>)(...values);
}

async function imported(specifier: string, name: string): Promise<unknown> {
  const module = (await import(specifier)) as Record<string, unknown>;
  if (!(name in module)) throw new Error(`${specifier} has no ${name}.`);
  return module[name];
}

describe("README's editor", () => {
  let scene: RelayScene;
  let base: string;
  let directory: string;
  const closing: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    scene = await RelayScene.start();
    base = await mkdtemp(join(tmpdir(), 'patchbay-readme-'));
    directory = join(base, 'Repo');
    await mkdir(directory);
    await writeFile(join(directory, 'old.txt'), 'old\n');
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await scene.close();
    await rm(base, { recursive: true, force: true });
  });

  const clientId = 'editor';
  const home = () => join(base, 'home');
  const where = () => ({ url: scene.server.url, workspaceId: scene.workspaceId, clientId });
  const connect = async () => {
    const tokens = { accessToken: scene.user.token, refreshToken: null, expiresAt: null };
    const tokenStore = new MemoryTokenStore(tokens);
    const askInMyEditor: Approver['decide'] = (...asked) => allowsAll.decide(...asked);
    const relay = await readmeEditor({
      ...{ ...where(), home: home(), tokenStore, directory, askInMyEditor },
    });
    closing.push(() => relay.close());
  };
  /** The same client, which writes and then does nothing any more, not even say so. */
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
      ...{ ...where(), token: scene.user.token, journal },
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
      /** Resolves when it has written what two calls want, and nothing of it is in use any more. */
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
      const { body } = await scene.user.post(`/workspaces/${scene.workspaceId}/tools`, {
        ...{ tool: 'read', args: { path } },
      });
      return (body as { result: { content: { text: string } } }).result.content.text;
    };
    expect(await Promise.all(['/Repo/new.txt', '/Repo/old.txt'].map(read))).toEqual(['new\n', 'old\nline\n']);
  };

  it('executes calls, and what it writes is the new Cloud truth', async () => {
    await connect();
    const { body } = await scene.post(calls(), { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    await expectWritten();
  });

  it('finishes what it was killed at, with no code of its own', async () => {
    const { dead } = await connectDying();
    const { body } = await scene.post(calls());
    await dead();
    await connect();
    const ended = await scene.get(body.result.turnId, 20_000);
    expect(ended.body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { created: true } },
      { status: 'succeeded', result: { files: [{ versionId: expect.any(String) as string }] } },
    ]);
    await expectWritten();
  });

  it('says what it has written where the turn was cancelled meanwhile, a patch as well as a create', async () => {
    const { dead } = await connectDying();
    const { body } = await scene.post(calls());
    await dead();
    await scene.cancel(body.result.turnId);
    await connect();
    for (const toolCallId of ['c', 'p'])
      await waitFor(
        async () => (await scene.steps(toolCallId)).includes('LateResult'),
        `${toolCallId}, late`,
      );
    await expectWritten();
  });
});
