import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../../packages/cli/src/program.js';
import type { CliIo } from '../../../packages/cli/src/settings.js';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture } from '../../support/fixtures.js';
import { createCall } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';

/** A colour, the title of the window, an escape sequence of one byte, and a change of the direction of writing. */
const TAINT = '\u001b[45m\u001b]0;x\u0007\u009b\u202e';
/** What tells a client how to read an answer. */
const STRUCTURE = new Set(['kind', 'code', 'nextCursor', 'accessToken', 'refreshToken']);

/** What a person sees steers their terminal by none of the taint. */
function expectHarmless(text: string): void {
  const signs = ['\u001b[45m', '\u0007', '\u009b', '\u202e'];
  expect(text.split('\n').filter((line) => signs.some((sign) => line.includes(sign)))).toEqual([]);
}

function tainted(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return STRUCTURE.has(key) ? value : value + TAINT;
  if (Array.isArray(value)) return value.map((item) => tainted(item, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, tainted(part, name)]));
}

/** The server behind a proxy that adds the taint to every string of its answers, and takes it off what comes back. */
async function taintingProxy(target: string): Promise<Server> {
  const plain = (text: string) =>
    text.replaceAll(JSON.stringify(TAINT).slice(1, -1), '').replaceAll(TAINT, '');
  const proxy = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { host: _host, 'content-length': _length, connection: _connection, ...headers } = request.headers;
      const body = plain(Buffer.concat(chunks).toString());
      const path = request.url!.replaceAll(encodeURIComponent(TAINT), '');
      void fetch(target + path, {
        method: request.method!,
        headers: headers as Record<string, string>,
        ...(body !== '' && { body }),
      }).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(tainted(JSON.parse((await answer.text()) || 'null'))));
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}

describe('Hostile texts of a server or a disk', () => {
  const server = suiteFixture(() => startTestServer());
  let setup: CommandFixture;
  let proxy: Server;
  beforeEach(async () => {
    setup = await CommandFixture.on(server);
    proxy = await taintingProxy(server.url);
  });
  afterEach(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await setup.close();
  });

  /** Both streams of a command at a terminal. */
  async function outputOf(args: readonly string[], url?: string): Promise<string> {
    const stream = () => Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
    const [stdout, stderr] = [stream(), stream()];
    let text = '';
    for (const one of [stdout, stderr]) one.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const stdin = new PassThrough().end();
    const { PATCHBAY_TOKEN: token, PATCHBAY_WORKSPACE: workspace } = setup.env;
    const address = url ?? `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const [command, ...rest] = args;
    const flags = ['--home', setup.home, '--url', address, '--token', token!, '--workspace', workspace!];
    await runCli([command!, ...flags, ...rest], { stdin, stdout, stderr, env: {} } as unknown as CliIo);
    return text;
  }

  it('send no control sequences to the terminal, in any command', async () => {
    const { turnId } = (await setup.fixture.post([createCall('c1', 'proj/a.txt')], { waitMs: 0 })).body
      .result;
    const turn = join(setup.directory, 'turn.json');
    await writeFile(turn, JSON.stringify([{ toolCallId: 'r', name: 'read', arguments: { path: '/none' } }]));
    for (const [args, shows] of [
      [['workspaces'], 'owner\\x1b[45m'],
      [['approvals'], 'need approval'],
      [['audit'], 'Tool.CreateFile.Accepted\\x1b'],
      [['audit', '--csv'], 'Tool.CreateFile.Accepted\\x1b'],
      [['audit', '--json'], 'Tool.CreateFile.Accepted\\u001b'],
      [['audit', '--workspace', 'nobody'], '"Workspace\\x1b'],
      [['status'], 'Workspace\\x1b[45m'],
      [['turn', turn], 'read'],
      [['turn', '--follow', turnId, '--wait', '10'], '…'],
      [['cancel', turnId], 'c1\\x1b'],
      [['revert', setup.fixture.workspaceId], 'patchbay: '],
      [['turn', '--follow', 'none'], 'There is no turn'],
    ] as [string[], string][]) {
      const text = await outputOf(args);
      expectHarmless(text);
      expect(text).toContain(shows);
    }
  });

  it('send no control sequences to the terminal as file names or stored notes', async () => {
    const folder = await setup.folder(`proj${TAINT}`, {
      [`a${TAINT}.txt`]: 'a\n',
      [`.env${TAINT}`]: 'X=1\n',
    });
    for (const args of [
      ['status', folder],
      ['push', '--verbose', folder],
      ['push', '--dry-run', folder],
      ['status', folder],
      ['pull', folder, '--force'],
    ]) {
      expectHarmless(await outputOf(args, server.url));
    }
    const rules = join(setup.home, 'rules');
    await mkdir(rules);
    const rule = {
      url: 'u',
      workspaceId: 'w',
      clientId: 'c',
      sessionId: 's',
      tools: ['t'],
      globs: ['g'],
      by: 'b',
      at: 'a',
    };
    await writeFile(join(rules, '1.json'), JSON.stringify(tainted(rule)));
    const approvals = await outputOf(['approvals'], server.url);
    expectHarmless(approvals);
    expect(approvals).toContain('1  every call of t\\x1b');
    // The note of the workspace that was chosen before.
    for (const name of await readdir(join(setup.home, 'workspaces'))) {
      const file = join(setup.home, 'workspaces', name);
      const noted = { ...(JSON.parse(await readFile(file, 'utf8')) as object), name: TAINT, whose: TAINT };
      await writeFile(file, JSON.stringify(noted));
    }
    expectHarmless(await outputOf(['audit'], server.url));
  });
});
