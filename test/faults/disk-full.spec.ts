import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { describeEmbedded } from '../support/backend.js';
import { FaultFixture } from '../support/fault-fixture.js';
import { freePort, ServerProcess } from '../support/processes.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { SmallDisk } from '../support/small-disk.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { describeWith } from '../support/system-commands.js';
import { waitFor } from '../support/wait-for.js';

import.meta.jest.setTimeout(60_000);

const UNAVAILABLE = { code: 'UNAVAILABLE', error: expect.stringContaining('full') as string };

const describeOnSmallDisk = (name: string, tests: () => void): void =>
  describeEmbedded('on a small disk', () => describeWith('mount', name, tests));

describeOnSmallDisk('a server whose disk is full', () => {
  let disk: SmallDisk;
  let server: TestServer;
  let fixture: RelayFixture;
  const log: string[] = [];
  const ready = async (): Promise<number> => (await server.get('/health/ready')).status;

  beforeEach(async () => {
    disk = SmallDisk.mount(48);
    server = await startTestServer({
      config: { dataDir: disk.path, logLevel: 'info' },
      logDestination: { write: (line: string) => void log.push(line) },
    });
    fixture = await RelayFixture.on(server, await server.register());
  });
  afterEach(async () => {
    await fixture.close();
    await server.close();
    disk.unmount();
  });

  const until = (status: number): Promise<void> =>
    waitFor(async () => (await ready()) === status, `ready to be a ${status}`);
  const put = (path: string, bytes: Uint8Array) =>
    server.request('PUT', `/workspaces/${fixture.workspaceId}/contents/${path}`, bytes, {
      authorization: `Bearer ${fixture.user.token}`,
      'content-type': 'application/octet-stream',
    });

  it('is not ready until there is space, and logs the reason [REQ-31]', async () => {
    expect(await ready()).toBe(200);
    disk.fill();
    await until(503);
    const answer = await server.get('/health/ready');
    expect(answer.body).toEqual({ status: 'not ready', checks: { server: 'ok', storage: 'failed' } });
    expect(log.join('')).toMatch(/"reason":"The disk of [^"]* is full[^}]*The storage is not ready/);
    disk.free();
    await until(200);
    expect(log.join('')).toContain('The storage is ready again');
  });

  it('rejects writes with 503 and Retry-After, answers reads, and recovers [SHARE-4]', async () => {
    const kept = new Uint8Array(1024 * 1024).fill(1);
    expect((await put('kept.bin', kept)).status).toBe(201);
    disk.fill(64 * 1024);
    const more = new Uint8Array(6 * 1024 * 1024).fill(2);
    const refused = await put('more.bin', more);
    expect(refused).toMatchObject({ status: 503, body: UNAVAILABLE });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { body } = await fixture.user.get<string>(`/workspaces/${fixture.workspaceId}/contents/kept.bin`);
    expect(body).toHaveLength(kept.length);
    expect(log.join('')).toContain('"code":"SQLITE_FULL"');
    disk.free();
    await until(200);
    expect((await put('more.bin', more)).status).toBe(201);
  });

  it('accepts an upload of a client only once there is space [SHARE-4]', async () => {
    const client = await fixture.client();
    await fixture.post([createCall('c1')]);
    await waitFor(() => client.calls.length === 1, 'the call');
    const call = client.calls[0]!;
    disk.fill();
    const content = Buffer.alloc(7 * 1024 * 1024, 3);
    const file = { docPath: 'c1.txt', path: 'c1.txt', content, sha256: sha256(content), baseSha256: null };
    const upload = () =>
      client.socket.timeout(20_000).emitWithAck('files:put', { ...file, callId: call.callId });
    expect(await upload()).toMatchObject({ ok: false, error: { code: 'UNAVAILABLE' } });
    disk.free();
    await until(200);
    expect(await upload()).toMatchObject({ ok: true });
    expect(await client.report(call)).toEqual({ ok: true });
  });
});

describeOnSmallDisk('a client that has a result for a server whose disk is full', () => {
  it('keeps the result in its journal and sends it once there is space [SHARE-4] [RELAY-8]', async () => {
    const disk = SmallDisk.mount(48);
    const server = await ServerProcess.start(join(disk.path, 'data'), await freePort());
    const fixture = await FaultFixture.on(server);
    try {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'before:intent' });
      await fixture.post('t1');
      await client.says('paused');
      editor.proxy.hold('toServer');
      client.signal('SIGUSR2');
      await client.says('Tool.CreateFile.Executed');
      disk.fill();
      editor.proxy.reset();
      await fixture.server.says('SQLITE_FULL');
      expect((await fixture.get('t1')).body.result.toolResults).toEqual([]);
      disk.free();
      await fixture.expectOnce('t1', editor);
    } finally {
      await fixture.close();
      await server.kill();
      disk.unmount();
    }
  });
});
