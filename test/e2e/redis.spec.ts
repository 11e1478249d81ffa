import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, ServerProcess, TestProcess } from '../support/processes.js';
import { RedisServer } from '../support/redis-server.js';
import { makeCertificate } from '../support/reverse-proxy.js';
import { describeWith } from '../support/system-commands.js';
import { waitFor } from '../support/wait-for.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

describe('a server with PATCHBAY_REDIS_URL', () => {
  let dataDir: string;
  const processes: TestProcess[] = [];
  beforeEach(async () => (dataDir = await mkdtemp(join(tmpdir(), 'patchbay-redis-'))));
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((one) => one.kill()));
    await rm(dataDir, { recursive: true });
  });

  const start = async (env: Record<string, string>): Promise<ServerProcess> => {
    const server = await ServerProcess.start(dataDir, await freePort(), env);
    processes.push(server);
    return server;
  };

  it('does not start with an invalid URL, and does not print it', async () => {
    for (const url of [
      'localhost:6379',
      'http://:secret@h:1',
      'redis://',
      'redis://:secret%@h',
      'redis://h/0?x=secret',
    ]) {
      const server = new TestProcess('server', MAIN, [], {
        PATCHBAY_DATA_DIR: dataDir,
        PATCHBAY_REDIS_URL: url,
      });
      processes.push(server);
      expect(await server.exited).toMatchObject({ code: 1 });
      expect(server.stderr).toBe(
        'patchbay: bad configuration: PATCHBAY_REDIS_URL must be a URL such as redis://host:6379 or rediss://user:password@host:6379\n',
      );
    }
  });

  it('starts and works while nothing listens there, with one log line without the password', async () => {
    const url = `redis://user:secret-word@127.0.0.1:${await freePort()}`;
    const server = await start({ PATCHBAY_REDIS_URL: url });
    await server.says('Redis is away');
    // Several attempts to connect.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
    expect(server.log.match(/Redis is away \(ECONNREFUSED\)/g)).toHaveLength(1);
    expect(server.log).not.toContain('secret-word');
    server.signal('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  describeWith('redis-server', 'that is there', () => {
    let redis: RedisServer;
    beforeEach(async () => (redis = await RedisServer.start()));
    afterEach(() => redis.kill());

    it('connects by TLS when it trusts the certificate, else logs the reason', async () => {
      const { certificate, key } = await makeCertificate(dataDir);
      const port = await freePort();
      await redis.kill();
      redis = await RedisServer.start(
        ...['--tls-port', `${port}`, '--tls-cert-file', certificate, '--tls-key-file', key],
        ...['--tls-auth-clients', 'no'],
      );
      const env = { PATCHBAY_REDIS_URL: `rediss://localhost:${port}` };
      const doubtful = await start(env);
      await doubtful.says('DEPTH_ZERO_SELF_SIGNED_CERT');
      await doubtful.kill();
      const server = await start({ ...env, NODE_EXTRA_CA_CERTS: certificate });
      await waitFor(
        async () => (await redis.ask('PUBSUB SHARDCHANNELS')).includes('patchbay:1:nodes'),
        'the channels of the server',
      );
      expect(server.log).not.toContain('Redis is away');
    });

    it('connects and stops in order while Redis does not answer', async () => {
      const server = await start({ PATCHBAY_REDIS_URL: redis.url });
      await waitFor(
        async () => (await redis.ask('PUBSUB SHARDCHANNELS')).includes('patchbay:1:nodes'),
        'the channels of the server',
      );
      redis.pause();
      server.signal('SIGTERM');
      expect(await server.exited).toEqual({ code: 0, signal: null });
      redis.resume();
    });
  });
});
