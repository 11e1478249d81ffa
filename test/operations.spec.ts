import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeVariables } from '../src/config/config.js';
import { freePort, ServerProcess } from './support/processes.js';
import { documentedBlock, OPERATIONS } from './support/reverse-proxy.js';
import { describeWith } from './support/system-commands.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const read = (name: string): Promise<string> => readFile(join(ROOT, name), 'utf8');

describe('the container', () => {
  it('gets every variable of docs/config.md that it does not decide itself', async () => {
    const compose = await read('docker-compose.yml');
    const passed = [...compose.matchAll(/^ {4,6}([A-Z_]{4,}):(.*)$/gm)].map(([, name, value]) => [
      name,
      value!.trim(),
    ]);
    const decided = [
      ...['PORT', 'HOST', 'PATCHBAY_DATA_DIR', 'PATCHBAY_JWT_SECRET'],
      ...['PATCHBAY_MONGODB_URI_FILE', 'PATCHBAY_REDIS_URL_FILE'],
    ];
    const wanted = describeVariables()
      .map(({ name }) => name)
      .filter((name) => !decided.includes(name));
    expect(passed.map(([name]) => name).sort()).toEqual(['NODE_ENV', ...wanted].sort());
    // Without a value Compose takes that of the shell, and none where it has none.
    expect(passed.filter(([, value]) => value !== '')).toEqual([
      ['NODE_ENV', 'production'],
      ['PATCHBAY_JWT_SECRET_FILE', '/run/secrets/jwt-secret'],
      ['PATCHBAY_MONGODB_URI', '${PATCHBAY_MONGODB_URI:-mongodb://mongo:27017/patchbay?replicaSet=rs0}'],
      ['PATCHBAY_REDIS_URL', '${PATCHBAY_REDIS_URL:-redis://redis:6379}'],
    ]);
  });

  it('is reached by this machine alone unless told otherwise, and runs as nobody on Node 24', async () => {
    expect(await read('docker-compose.yml')).toContain("'${PATCHBAY_PUBLISH:-127.0.0.1:3000}:3000'");
    const dockerfile = await read('Dockerfile');
    expect(dockerfile.match(/^FROM .*/gm)).toEqual([
      'FROM node:24-bookworm-slim AS build',
      'FROM node:24-bookworm-slim',
    ]);
    const [, image = ''] = dockerfile.split(/^FROM node:24-bookworm-slim$/m);
    expect(image).toMatch(/^USER nobody$/m);
    expect(image).toMatch(/^ENV NODE_ENV=production HOST=0\.0\.0\.0 /m);
    expect(image).toMatch(/^HEALTHCHECK .*"dist\/admin\.js", "health"\]$/m);
  });

  it('has every file that the server reads, the API document among them', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'patchbay-image-'));
    const [, image = ''] = (await read('Dockerfile')).split(/^FROM node:24-bookworm-slim$/m);
    for (const [, names, target] of image.matchAll(/^COPY --from=build (.*) (\S+)$/gm)) {
      for (const name of names!.split(' ').map((path) => path.replace('/app/', ''))) {
        const to = join(directory, target!, target!.endsWith('/') ? basename(name) : '');
        if (['node_modules', 'packages'].includes(name)) await symlink(join(ROOT, name), to);
        else await cp(join(ROOT, name), to, { recursive: true });
      }
    }
    const data = join(directory, 'data');
    const server = await ServerProcess.start(data, await freePort(), {}, join(directory, 'dist/main.js'));
    const served = await (await fetch(`${server.url}/api/docs-json`)).json();
    await server.kill();
    await rm(directory, { recursive: true });
    expect(served).toEqual(JSON.parse(await read('docs/openapi.json')));
    expect(await read('.dockerignore')).toMatch(/^docs\/\*\n!docs\/openapi\.json$/m);
  }, 60_000);
});

describeWith('docker-compose', 'docker-compose.yml', () => {
  it('is one that docker-compose takes, and passes on what the shell sets', () => {
    const env = {
      PATH: process.env.PATH ?? '',
      PATCHBAY_REGISTRATION: 'first',
      PATCHBAY_PUBLISH: '10.0.0.1:80',
    };
    const config = execFileSync('docker-compose', ['config'], { cwd: ROOT, env, encoding: 'utf8' });
    expect(config).toContain('PATCHBAY_REGISTRATION: first');
    expect(config).toContain('10.0.0.1:80:3000');
    expect(config).toContain('mongodb://mongo:27017/patchbay?replicaSet=rs0');
    expect(config).toMatch(/^ {4}profiles:\n {4}- embedded$/m);
  });
});

describeWith('systemd-analyze', 'the unit in docs/operations.md', () => {
  it('is one that systemd takes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'patchbay-unit-'));
    const file = join(directory, 'patchbay.service');
    const unit = (await documentedBlock('ini'))
      .replace('/usr/bin/node /opt/patchbay/dist/main.js', `${process.execPath} ${ROOT}dist/main.js`)
      // One that is there.
      .replace('User=patchbay', 'User=daemon');
    await writeFile(file, unit);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    await rm(directory, { recursive: true });
    const ours = stderr.split('\n').filter((line) => line.includes('patchbay.service'));
    expect({ status, ours }).toEqual({ status: 0, ours: [] });
  });
});

describe("the operator's manual", () => {
  it('names variables that there are', async () => {
    const others = ['PATCHBAY_PUBLISH', 'PATCHBAY_HOME', 'PATCHBAY_TEST_MONGODB_URI'];
    const known = new Set([...describeVariables().map(({ name }) => name), ...others]);
    for (const page of [OPERATIONS, join(ROOT, 'SECURITY.md')]) {
      const named = (await readFile(page, 'utf8')).match(/PATCHBAY_[A-Z_]+/g) ?? [];
      expect(named.filter((name) => !known.has(name))).toEqual([]);
    }
  });
});
