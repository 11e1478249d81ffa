import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { CLIENT } from '../../support/processes.js';
import { createCall } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';

describe('patchbay with a closed output pipe:', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => CommandFixture.on(server));

  /** Runs the built command, and closes its stdout at the first byte, or before one where there is no other. */
  const cut = async (
    when: 'start' | 'data',
    ...args: string[]
  ): Promise<{ code: number | null; err: string }> => {
    const { user, workspaceId } = setup.fixture;
    const child = spawn(process.execPath, [CLIENT, ...args], {
      env: {
        PATH: process.env.PATH,
        PATCHBAY_URL: server.url,
        PATCHBAY_TOKEN: user.token,
        PATCHBAY_WORKSPACE: workspaceId,
        PATCHBAY_HOME: join(setup.directory, 'home-of-pipes'),
      },
    });
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    const exited = once(child, 'close') as Promise<[number | null]>;
    if (when === 'data') await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await exited;
    return { code, err };
  };
  const call = async (path: string): Promise<unknown> =>
    setup.fixture.user.post(`/workspaces/${setup.fixture.workspaceId}/tools`, {
      ...{ tool: 'write', args: { path, content: { text: 'x'.repeat(100) } } },
    });

  it.each([[[]], [['--json']], [['--csv']], [['--last', '500', '--json']]])(
    'audit %j ends without an error, as if it had printed everything',
    async (flags) => {
      await Promise.all(Array.from({ length: 300 }, (_, at) => call(`/some/where/file-${at}`)));
      expect(await cut('data', 'audit', ...flags)).toEqual({ code: 0, err: '' });
      expect(await cut('start', 'audit', ...flags)).toEqual({ code: 0, err: '' });
    },
  );

  it.each([
    ['--help'],
    ['audit', '--help'],
    ['workspaces'],
    ['workspaces', '--json'],
    ['status', '--json'],
    ['approvals'],
    ['completion', 'bash'],
  ])('%s %s ends without an error', async (...args) => {
    const { code, err } = await cut('start', ...args);
    expect([code, err.includes('EPIPE'), err.includes(' at ')]).toEqual([0, false, false]);
  });

  it('turn runs to its end, with its exit code', async () => {
    const path = join(setup.directory, 'turn.json');
    const write = { toolCallId: 'w', name: 'write', arguments: { path: '/by/turn', content: { text: 'x' } } };
    await writeFile(path, JSON.stringify({ turnId: 'cut', toolCalls: [write] }));
    const { code, err } = await cut('start', 'turn', path);
    expect([code, err.includes('EPIPE')]).toEqual([0, false]);
    await writeFile(path, JSON.stringify({ turnId: 'open', waitMs: 0, toolCalls: [createCall('c')] }));
    expect((await cut('start', 'turn', path)).code).toBe(6);
    const { body } = await setup.fixture.user.get(
      `/workspaces/${setup.fixture.workspaceId}/contents/by/turn`,
    );
    expect(body).toBe('x');
  });
});
