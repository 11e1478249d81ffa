import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture } from '../../support/fixtures.js';
import { CLIENT, TestProcess } from '../../support/processes.js';
import { createCall } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';

describe('patchbay connect', () => {
  const server = suiteFixture(() => startTestServer());
  let setup: CommandFixture;
  let folder: string;
  let client: TestProcess;
  beforeEach(async () => {
    setup = await CommandFixture.on(server);
    folder = await setup.folder('proj');
  });
  afterEach(async () => {
    if (client?.running) await client.kill();
    await setup.close();
  });

  const connect = async (args: string[], env: Record<string, string> = {}): Promise<void> => {
    client = new TestProcess('patchbay', CLIENT, ['connect', ...args], { ...setup.env, ...env });
    await client.says(/^connected$/m);
  };
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    client.signal(signal);
    return (await client.exited).code;
  };
  const outcome = async (...calls: object[]) =>
    (await setup.fixture.post(calls, { waitMs: 20_000 })).body.result.toolResults[0]!;
  const logged = (event: string): unknown =>
    JSON.parse(client.stderr.split('\n').find((line) => line.startsWith(`{"event":"${event}"`))!);

  it('executes allowed calls, logs them as JSON lines and stops on a signal [AUDIT-6]', async () => {
    await connect([folder, '--allow', 'src/**']);
    const { status, callId } = await outcome(createCall('c1', 'src/a.txt'));
    expect(status).toBe('succeeded');
    expect(await stop()).toBe(0);
    expect(client.stdout).toBe('connected\n');
    expect(logged('Tool.CreateFile.Executed')).toMatchObject({
      ...{ sessionId: setup.fixture.session.sessionId, toolCallId: 'c1', callId },
      ...{ path: 'src/a.txt', overwrite: false, success: true, errorCode: null },
    });
    expect(client.stderr).toContain('allowed by --allow src/**');
  });

  it('applies an allowed patch, logs it as a JSON line [AUDIT-6], and uploads it', async () => {
    await mkdir(join(folder, 'Src'));
    await writeFile(join(folder, 'Src', 'A.txt'), 'x\n');
    await connect([folder, '--allow', 'Src/**']);
    const changes = [{ operation: 'insert', afterLine: 1, newLines: ['y'] }];
    const files = [{ docPath: 'proj/src/a.txt', originalSha256: sha256('x\n'), changes }];
    const { result } = await outcome({
      ...{ toolCallId: 'p1', name: 'workspace_write_patch', arguments: { files } },
    });
    expect(result).toMatchObject({
      success: true,
      files: [{ status: 'applied', versionId: expect.any(String) as string }],
    });
    expect(await readFile(join(folder, 'Src', 'A.txt'), 'utf8')).toBe('x\ny\n');
    expect(await stop()).toBe(0);
    expect(logged('Tool.WritePatch.Executed')).toMatchObject({
      ...{ toolCallId: 'p1', files: 1, applied: 1, success: true, errorCode: null },
    });
    expect(client.stderr).toContain(
      'patch proj/Src/A.txt (1 change: +1 -0 lines), allowed by --allow Src/**',
    );
  });

  it('accepts its folder as an argument like push and pull, and others with --root', async () => {
    const other = await setup.folder('other');
    await connect([folder, '--root', other, '--yes']);
    await outcome(createCall('c1', 'proj/a.txt'), createCall('c2', 'other/b.txt'));
    await stop();
    expect([await readdir(folder), await readdir(other)]).toEqual([['a.txt'], ['b.txt']]);
  });

  it('asks about Cloud changes of the server by the same rules, and does not run them', async () => {
    await setup.run('approvals', '--ask', 'write');
    await connect([folder, '--allow', 'notes/**']);
    const args = { path: '/notes/a.txt', content: { text: 'x\n' } };
    expect((await outcome({ toolCallId: 'w', name: 'write', arguments: args })).status).toBe('succeeded');
    await stop();
    expect(await readdir(folder)).toEqual([]);
    expect(client.stderr).toContain('write write the Cloud file notes/a.txt (1 line, 2 bytes), allowed by');
  });

  it('writes nothing without a terminal and without a rule, and waits', async () => {
    await connect([folder, '--allow', 'src/**']);
    const { turnId } = (await setup.fixture.post([createCall('c1', 'other.txt')])).body.result;
    await setup.fixture.untilCall(turnId, 'c1', 'awaiting_approval');
    expect(await stop('SIGINT')).toBe(130);
    expect(await readdir(folder)).toEqual([]);
  });

  it('has the same client id at every start in a folder, and another in another folder', async () => {
    const ids = async () => {
      const path = `/workspaces/${setup.fixture.workspaceId}/clients`;
      const { body } = await setup.fixture.user.get<{ clients: { clientId: string }[] }>(path);
      return body.clients.map(({ clientId }) => clientId);
    };
    for (const root of [folder, folder]) {
      await connect([root]);
      await stop();
    }
    expect(await ids()).toHaveLength(1);
    await connect([await setup.folder('other')]);
    expect(await ids()).toHaveLength(2);
  });

  it('does not run twice in one folder', async () => {
    await connect([folder]);
    const { code, err } = await setup.run('connect', folder);
    expect([code, err]).toEqual([
      7,
      expect.stringMatching(/^patchbay: Another patchbay client \(process \d+\)/),
    ]);
  });

  it('lets no call access server data in its folder, and says so once', async () => {
    const data = join(folder, 'server', '.patchbay');
    await mkdir(data, { recursive: true });
    await writeFile(join(data, 'patchbay.db'), '');
    await connect([folder, '--yes']);
    const { result } = await outcome(createCall('c1', 'server/.Patchbay/jwt-secret'));
    expect(result).toMatchObject({ success: false, errorCode: 'InvalidPath' });
    await stop();
    expect(client.stderr.match(/Calls cannot write into .*server\/\.patchbay/g)).toHaveLength(1);
  });

  it.each([
    ['', null],
    ['1', 'TooLarge'],
  ])('accepts PATCHBAY_MAX_FILE_BYTES=%p, where empty counts as unset', async (limit, errorCode) => {
    await connect([folder, '--yes'], { PATCHBAY_MAX_FILE_BYTES: limit });
    expect((await outcome(createCall('c1', 'a.txt'))).result).toMatchObject({ errorCode });
  });

  it('rejects a folder that contains its own home', async () => {
    await mkdir(setup.home);
    const { code, err } = await setup.run('connect', setup.home);
    expect([code, err]).toEqual([2, expect.stringContaining('set PATCHBAY_HOME elsewhere')]);
  });
});
