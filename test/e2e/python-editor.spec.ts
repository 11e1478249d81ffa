import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sha256 } from '@patchbay/protocol/hash';
import type { CloudFileVersionPage, CloudFilePage } from '@patchbay/protocol';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { describeWith, EXAMPLE_PYTHON } from '../support/system-commands.js';
import { PASSWORD } from '../support/test-user.js';
import { waitFor } from '../support/wait-for.js';

const EDITOR = join(import.meta.dirname, '../../examples/python-editor/editor.py');
/** Endings are mixed, there is a byte order mark, and the last line has no ending. */
const TEXT = '\u{feff}one\r\ntwo\nthree';

/** The life of an access token of which the editor is warned half-way. */
const TOKEN_MS = 3_000;

/** Passes bytes on, and nothing more to the client once it has passed a text to it. */
class HoldingProxy {
  private readonly sockets = new Set<Socket>();
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(port: number, holdAfter: string): Promise<HoldingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new HoldingProxy(server, `http://127.0.0.1:${(server.address() as { port: number }).port}`);
    server.on('connection', (client: Socket) => proxy.join(client, connect(port, '127.0.0.1'), holdAfter));
    return proxy;
  }

  private join(client: Socket, upstream: Socket, holdAfter: string): void {
    let isHeld = false;
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => [client, upstream].forEach((end) => end.destroy()));
    }
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes: Buffer) => {
      if (!isHeld) client.write(bytes);
      isHeld ||= bytes.includes(holdAfter);
    });
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

describeWith(
  'a venv of examples/python-editor/requirements.txt in node_modules/.cache/python-editor',
  'The example python-editor',
  () => {
    let fixture: RelayFixture;
    let home: string;
    let folder: string;
    let editor: ChildProcessWithoutNullStreams;
    let output: string;
    beforeEach(async () => {
      fixture = await RelayFixture.start();
      home = await mkdtemp(join(tmpdir(), 'patchbay-python-'));
      folder = join(home, 'Notes');
      await mkdir(folder);
    });
    afterEach(async () => {
      await kill();
      await fixture.close();
      await rm(home, { recursive: true, force: true });
    });

    const start = async (options: string[] = [], url = fixture.server.url, ready = 'connected') => {
      output = '';
      const journal = join(home, 'journal.json');
      const args = ['--url', url, '--workspace', fixture.workspaceId, '--journal', journal, ...options];
      editor = spawn(EXAMPLE_PYTHON, [EDITOR, ...args, folder], {
        env: {
          PATH: process.env.PATH,
          HOME: home,
          PATCHBAY_PASSWORD: PASSWORD,
          PYTHONDONTWRITEBYTECODE: '1',
          PATCHBAY_TOKEN: fixture.user.token,
        },
      });
      for (const stream of [editor.stdout, editor.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await prints(ready);
    };
    const kill = async () => {
      if (editor.exitCode !== null || editor.signalCode !== null) return;
      const exit = once(editor, 'exit');
      editor.kill('SIGKILL');
      await exit;
    };
    const prints = (text: string) => waitFor(() => output.includes(text), `"${text}" in ${output}`);
    const answer = async (line: string) => {
      await prints('Do it?');
      output = '';
      editor.stdin.write(`${line}\n`);
    };
    const held = (path: string) => readFile(join(folder, path), 'utf8');
    const patch = (docPath: string, text: string, changes: object[]) => ({
      ...{ toolCallId: 'p', name: 'workspace_write_patch' },
      arguments: { files: [{ docPath, originalSha256: sha256(text), changes }] },
    });
    const replaceTwo = {
      ...{ operation: 'replace', startLine: 2, endLine: 2, expectedOriginalLines: ['two'] },
      newLines: ['2', 'II'],
    };
    const resultOf = async (call: object) => {
      const { body } = await fixture.post([call], { waitMs: 20_000 });
      expect(body.warnings).toEqual([]);
      return body.result.toolResults[0]!;
    };
    const versionsOf = async (docPath: string) => {
      const base = `/workspaces/${fixture.workspaceId}/files`;
      const { files } = (await fixture.user.get<CloudFilePage>(`${base}?prefix=${docPath}`)).body;
      return (await fixture.user.get<CloudFileVersionPage>(`${base}/${files[0]!.fileId}/versions`)).body
        .versions;
    };

    it('logs in by email and password, asks a person, creates and patches; the server computes the same hashes', async () => {
      await start(['--email', fixture.user.email]);
      const created = resultOf(createCall('c', 'notes/New/List.md', 'one\r\ntwo\n'));
      await prints('+two');
      await answer('y');
      expect(await created).toMatchObject({
        status: 'succeeded',
        result: { created: true, docPath: 'notes/new/list.md', hash: sha256('one\ntwo\n') },
      });
      const patched = resultOf(patch('notes/new/list.md', 'one\ntwo\n', [replaceTwo]));
      await prints('+II');
      await answer('y');
      expect(await patched).toMatchObject({
        status: 'succeeded',
        result: { files: [{ status: 'applied', versionId: expect.any(String) as string }] },
      });
      expect(await held('New/List.md')).toBe('one\n2\nII\n');
      expect(await versionsOf('notes/new/list.md')).toHaveLength(2);
    });

    it('patches a text unknown to the Cloud, keeps its line endings, and the server can undo it', async () => {
      await writeFile(join(folder, 'Mixed.txt'), TEXT);
      await start(['--yes']);
      const append = { operation: 'insert', afterLine: 3, newLines: ['four'] };
      const patched = await resultOf(patch('notes/mixed.txt', TEXT, [replaceTwo, append]));
      expect(await held('Mixed.txt')).toBe('\u{feff}one\r\n2\nII\nthree\nfour');
      const { batchId } = patched.result as { batchId: string };
      const revert = `/workspaces/${fixture.workspaceId}/patches/${batchId}/revert`;
      const { sessionId } = fixture.session;
      expect(await fixture.user.post(revert, { sessionId, waitMs: 20_000 })).toMatchObject({
        status: 200,
        body: { warnings: [], result: { toolResults: [{ status: 'succeeded' }] } },
      });
      expect(await held('Mixed.txt')).toBe(TEXT);
    });

    it('changes nothing that a person denies', async () => {
      await start();
      const created = resultOf(createCall('c', 'a.txt'));
      await answer('n');
      expect(await created).toMatchObject({ status: 'denied', result: null });
      expect(await readdir(folder)).toEqual([]);
    });

    it('does not execute a call that was cancelled while a person was asked', async () => {
      await start();
      const { turnId } = (await fixture.post([createCall('c', 'a.txt')])).body.result;
      await prints('Do it?');
      await fixture.cancel(turnId);
      await answer('y');
      const next = resultOf(createCall('next', 'b.txt'));
      await answer('y');
      expect(await next).toMatchObject({ status: 'succeeded' });
      expect(await readdir(folder)).toEqual(['b.txt']);
    });

    it('rejects existing files, stale files, other lines and paths outside the folder', async () => {
      await writeFile(join(folder, 'A.txt'), TEXT);
      await symlink(home, join(folder, 'out'));
      await start(['--yes']);
      const codeOf = async (call: object) => (await resultOf(call)).error?.code;
      expect(await codeOf(createCall('c', 'notes/a.TXT'))).toBe('FileExists');
      for (const path of [
        '../b.txt',
        '/b.txt',
        'out/b.txt',
        'C:\\b.txt',
        '.git/config',
        'notes/con.txt',
        'notes',
      ])
        expect([path, await codeOf(createCall('c', path))]).toEqual([path, 'InvalidPath']);
      expect(await codeOf(createCall('c', '.env'))).toBe('FORBIDDEN');
      expect(await codeOf(patch('notes/a.txt', 'other', [replaceTwo]))).toBe('STALE');
      const wrong = { ...replaceTwo, expectedOriginalLines: ['II'] };
      expect(await codeOf(patch('notes/a.txt', TEXT, [wrong]))).toBe('LINES_MISMATCH');
      expect(await codeOf(patch('notes/none.txt', TEXT, [replaceTwo]))).toBe('NOT_FOUND');
      expect((await readdir(folder)).sort()).toEqual(['A.txt', 'out']);
      expect(await readdir(home)).toEqual(expect.not.arrayContaining(['b.txt']));
    });

    it('sends its files to the model, except those that may hold secrets', async () => {
      await writeFile(join(folder, 'A.txt'), TEXT);
      await writeFile(join(folder, '.env'), 'PASSWORD=secret');
      await start(['--yes']);
      const read = (docPath: string) =>
        resultOf({ toolCallId: 'r', name: 'workspace_read_file', arguments: { docPath } });
      expect(await read('notes/a.txt')).toMatchObject({ result: { source: 'disk', sha256: sha256(TEXT) } });
      expect(JSON.stringify(await read('notes/.env'))).not.toContain('secret');
    });

    it('asks again after a kill during the question, and executes the call once', async () => {
      await start();
      const { turnId } = (await fixture.post([createCall('c', 'a.txt')])).body.result;
      await prints('Do it?');
      await kill();
      expect(await readdir(folder)).toEqual([]);
      await start();
      await answer('y');
      expect((await fixture.calls(turnId, 20_000)).c).toMatchObject({
        status: 'succeeded',
        result: { created: true },
      });
      expect(await held('a.txt')).toBe('x\n');
      expect(
        (await fixture.steps('c')).filter((step) => step === 'Forwarded' || step === 'ResultReceived'),
      ).toEqual([...['Forwarded', 'ResultReceived']]);
    });

    it.each([
      ['a create', 'notes/a.txt', null],
      ['a patch', 'notes/b.txt', 'one\ntwo\n'],
    ])(
      'that is killed once it has written %s reports it, and does nothing twice',
      async (_what, docPath, text) => {
        const path = join(home, 'Notes', docPath.slice('notes/'.length));
        if (text !== null) await writeFile(path, text);
        // The ids of its events with --yes: 1 is resume, then comes, of a patch, the upload of the text before, then `running`.
        const proxy = await HoldingProxy.to(
          Number(new URL(fixture.server.url).port),
          `43/relay,${text === null ? 2 : 3}[`,
        );
        await start(['--yes'], proxy.url);
        const call =
          text === null
            ? createCall('c', docPath, 'new\n')
            : { ...patch(docPath, text, [replaceTwo]), toolCallId: 'c' };
        const { turnId } = (await fixture.post([call])).body.result;
        const after = text === null ? 'new\n' : 'one\n2\nII\n';
        await waitFor(async () => existsSync(path) && (await readFile(path, 'utf8')) === after, 'the file');
        await kill();
        proxy.close();
        await start(['--yes']);
        expect((await fixture.calls(turnId, 20_000)).c).toMatchObject({ status: 'succeeded', error: null });
        expect(await readFile(path, 'utf8')).toBe(after);
        expect(await versionsOf(docPath)).toHaveLength(text === null ? 1 : 2);
        expect(await readdir(folder)).toHaveLength(1);
        expect(
          (await fixture.steps('c')).filter((step) => step === 'Running' || step === 'ResultReceived'),
        ).toEqual([...['Running', 'ResultReceived']]);
      },
    );

    it('sends a new token before the old one expires and stays connected', async () => {
      const server = await startTestServer({ config: { accessTokenMinutes: TOKEN_MS / 60_000 } });
      const user = await server.register();
      const { id } = await user.createWorkspace();
      await start(['--email', user.email, '--workspace', id], server.url);
      await setTimeout(2 * TOKEN_MS);
      expect(output).toBe('connected\n');
      await kill();
      await server.close();
    });
  },
);
