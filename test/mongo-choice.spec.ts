import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongoChoice } from './support/mongo-choice.mjs';

const SUPPORT = join(import.meta.dirname, 'support');
/** What Jest does before and after all specs, and between them the name of the server that they get. */
const RUN = `
  const { announceBackends: announce } = await import('${SUPPORT}/announce-backends.mjs');
  const { dropDatabases: drop } = await import('${SUPPORT}/drop-databases.mjs');
  await announce();
  console.log(process.env.PATCHBAY_TEST_MONGODB_URI ?? 'none');
  await drop();`;

describe('the MongoDB server of a test run', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-mongod-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A program that starts like mongod, in the folder. */
  async function aMongod(): Promise<string> {
    const path = join(folder, 'mongod');
    const script = `#!/bin/sh\nexec '${process.execPath}' '${SUPPORT}/fake-mongod.mjs' "$@"\n`;
    await writeFile(path, script, { mode: 0o755 });
    return path;
  }

  /** A run in this environment: how it ended, what it said, and the server of the specs. */
  async function run(env: { [name: string]: string }): Promise<{ code: number; said: string; uri: string }> {
    const args = ['--input-type=module', '-e', RUN];
    const child = spawn(process.execPath, args, { env: { HOME: folder, PATH: folder, ...env } });
    let [said, uri] = ['', ''];
    child.stderr.on('data', (data) => (said += String(data)));
    child.stdout.on('data', (data) => (uri += String(data)));
    const [code] = (await once(child, 'close')) as [number];
    return { code, said, uri: uri.trim() };
  }

  it('is the one that is named, before any program', async () => {
    const MONGOMS_SYSTEM_BINARY = await aMongod();
    const named = { PATCHBAY_TEST_MONGODB_URI: 'mongodb://db/', MONGOMS_SYSTEM_BINARY, PATH: folder };
    expect(mongoChoice(named)).toEqual({ kind: 'named', uri: 'mongodb://db/' });
  });

  it('is else started from MONGOMS_SYSTEM_BINARY, or from PATH', async () => {
    const binary = await aMongod();
    expect(mongoChoice({ MONGOMS_SYSTEM_BINARY: '/opt/mongod', PATH: folder })).toEqual({
      kind: 'started',
      binary: '/opt/mongod',
    });
    expect(mongoChoice({ PATH: `/nowhere::${folder}`, PATCHBAY_TEST_MONGODB_DOWNLOAD: '1' })).toEqual({
      kind: 'started',
      binary,
    });
  });

  it('is not a file that nobody may run', async () => {
    await writeFile(join(folder, 'mongod'), '');
    expect(mongoChoice({ PATH: folder })).toEqual({ kind: 'none' });
  });

  it('is downloaded only where that is asked for', () => {
    expect(mongoChoice({ PATH: folder, PATCHBAY_TEST_MONGODB_DOWNLOAD: '1' })).toEqual({
      kind: 'downloaded',
    });
    expect(mongoChoice({ PATH: folder })).toEqual({ kind: 'none' });
    expect(mongoChoice({})).toEqual({ kind: 'none' });
  });

  it('is started as a replica set, told of in one line, and ended with the run', async () => {
    const binary = await aMongod();
    const { code, said, uri } = await run({ PATCHBAY_REQUIRE_MONGO: '1' });
    expect(uri).toMatch(/^mongodb:\/\/127\.0\.0\.1:\d+\/$/);
    const at = uri.slice('mongodb://'.length, -1);
    expect(said.trim()).toContain(
      `=== Storage backends of this run: SQLITE and MONGO on 9.9.9, replica set testset, ${at}, started from ${binary}`,
    );
    expect(code).toBe(0);
    await expect(fetch(`http://${at}`)).rejects.toThrow('fetch failed');
  });

  it('is said to be missing where its program does not run; the run goes on', async () => {
    await aMongod();
    const { code, said, uri } = await run({ FAKE_MONGOD: 'broken' });
    expect(said).toContain(`SQLITE and NOT mongo (${folder}/mongod came to nothing: `);
    expect({ code, uri }).toEqual({ code: 0, uri: 'none' });
  });

  it('is said to be missing where its download fails; the run goes on', async () => {
    const gone = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as { port: number };
    const download = {
      PATCHBAY_TEST_MONGODB_DOWNLOAD: '1',
      MONGOMS_DOWNLOAD_MIRROR: `https://127.0.0.1:${port}`,
      MONGOMS_DOWNLOAD_DIR: folder,
    };
    const { code, said, uri } = await run(download);
    gone.close();
    expect(said).toMatch(/SQLITE and NOT mongo \(the download of mongod came to nothing: .*127\.0\.0\.1/);
    expect({ code, uri }).toEqual({ code: 0, uri: 'none' });
  });

  it.each(['PATCHBAY_REQUIRE_MONGO=1', 'PATCHBAY_TEST_BACKEND=mongo'])(
    'fails the run with %s where there is none',
    async (asked) => {
      const { code, said } = await run(Object.fromEntries([asked.split('=')]) as { [name: string]: string });
      expect(said).toContain(`${asked}, but there is no MongoDB server: name a server in`);
      expect(code).toBe(1);
    },
  );
});
