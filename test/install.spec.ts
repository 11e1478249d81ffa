import { execFile, type ExecFileException, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { satisfies } from 'semver';
import { waitFor } from './support/wait-for.js';

const ROOT = resolve(import.meta.dirname, '..');
/** The oldest Node that README names. */
const OLDEST_NODE = '20.19.0';
/** Letters outside ASCII, and what URLs, shells and escapes read in their own way. */
const FOLDER = "José's #1 100% %41 日本";
const LEFT_OUT = ['node_modules', 'dist', '.git', 'coverage', '.patchbay'];

interface LockedPackage {
  dev?: boolean;
  hasInstallScript?: boolean;
  engines?: { node?: string };
}
const readJson = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(join(ROOT, path), 'utf8'));
const locked = async () =>
  Object.entries(
    ((await readJson('package-lock.json')) as { packages: Record<string, LockedPackage> }).packages,
  );
const packageAt = (path: string): string => path.split('node_modules/').at(-1)!;

describe('The dependencies', () => {
  it('that a server needs all take the oldest Node that README names', async () => {
    expect(await readFile(join(ROOT, 'README.md'), 'utf8')).toContain('Node 20.19 to 26');
    const needed = (await locked()).filter(([, { dev }]) => !dev);
    expect(needed.length).toBeGreaterThan(100);
    const tooNew = needed.filter(([, { engines }]) => !satisfies(OLDEST_NODE, engines?.node ?? '*'));
    expect(tooNew).toEqual([]);
  });

  it('have no install script that allowScripts does not deny', async () => {
    const withScript = (await locked()).filter(([, { hasInstallScript }]) => hasInstallScript);
    const { allowScripts } = (await readJson('package.json')) as { allowScripts: Record<string, boolean> };
    const names = withScript.map(([path]) => packageAt(path)).sort();
    expect(Object.keys(allowScripts).sort()).toEqual([...new Set(names)]);
    expect(Object.values(allowScripts)).not.toContain(true);
  });

  it('report no install to their makers, even where npm runs the scripts', async () => {
    let reports = 0;
    const maker = createServer((_, response) => {
      reports += 1;
      response.end();
    }).listen(0);
    await once(maker, 'listening');
    const port = String((maker.address() as AddressInfo).port);
    const other = await mkdtemp(join(tmpdir(), 'patchbay-other-'));
    await writeFile(
      join(other, 'package.json'),
      '{ "name": "other", "scarfSettings": { "skipTraversal": true } }',
    );
    const report = (INIT_CWD: string) => {
      const set = {
        SCARF_VERBOSE: 'true',
        SCARF_LOCAL_PORT: port,
        TMPDIR: other,
        npm_execpath: 'npm',
        INIT_CWD,
      };
      const script = join(ROOT, 'node_modules/@scarf/scarf/report.js');
      return run('node', [script], { cwd: other, env: { ...process.env, ...set } });
    };
    const { said } = await report(ROOT);
    expect([reports, said]).toEqual([0, expect.stringContaining('User has opted out')]);
    // The same for a project that has not switched it off.
    await report(other);
    expect(reports).toBe(1);
    maker.close();
    await rm(other, { recursive: true });
  });
});

interface Ran {
  code: number;
  /** stdout, then stderr. */
  said: string;
}

/** Of the variables that npm sets for what it runs, such as Jest, a new npm is to have none. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|NODE_ENV$|NODE_OPTIONS$|JEST_|PATCHBAY_)/i.test(name),
  ),
);

function run(file: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Promise<Ran> {
  return new Promise((done) =>
    execFile(
      file,
      args,
      { env: ENVIRONMENT, maxBuffer: 2 ** 26, ...options },
      (error: ExecFileException | null, out, err) =>
        done({ code: error === null ? 0 : Number(error.code), said: `${out}${err}` }),
    ),
  );
}

/** The commands of docs/operations.md, one by one. */
async function documentedInstall(): Promise<string> {
  const manual = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  return /^npm ci --include=dev.*$/m.exec(manual)![0];
}

// One after the other: each goes on with what the one before has left.
describe('A copy in a folder with an odd name', () => {
  let base: string;
  let copy: string;
  const sh = (command: string, env: NodeJS.ProcessEnv = {}) =>
    run('sh', ['-c', command], { cwd: copy, env: { ...ENVIRONMENT, ...env } });
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false', ...args], {
      cwd: copy,
    });
  const expectSuccess = ({ code, said }: Ran): string => {
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    return said;
  };
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'patchbay-install-'));
    copy = join(base, FOLDER);
    await cp(ROOT, copy, {
      recursive: true,
      filter: (path) => path === ROOT || !LEFT_OUT.includes(basename(path)),
    });
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'copy'],
    ])
      expectSuccess(await git(...args));
  });
  afterAll(() => rm(base, { recursive: true, force: true }));

  it('is installed and built by npm ci, which runs no install script and warns of none', async () => {
    const output = expectSuccess(await sh('npm ci --prefer-offline --no-audit --no-fund'));
    expect(output).not.toMatch(/install-scripts|allowScripts|approve/);
    expect(existsSync(join(copy, 'dist/main.js'))).toBe(true);
  }, 300_000);

  it('runs the demo, and does not build again for it', async () => {
    const output = expectSuccess(await sh('npm run demo'));
    expect(output).not.toContain('building');
    expect(output).toContain('the same hash as in the turn result');
  }, 120_000);

  it('passes tests', async () => {
    const jest = 'npx jest test/e2e/server-process.spec.ts packages/workspace/src/disk';
    const options = { NODE_OPTIONS: '--experimental-vm-modules --no-warnings' };
    expectSuccess(await sh(jest, options));
  }, 300_000);

  it('has an inventory of what a server needs', async () => {
    const { components } = JSON.parse(expectSuccess(await sh('npm sbom --omit=dev'))) as {
      components: object[];
    };
    expect(components.length).toBeGreaterThan(50);
  });

  it('loses its development packages by the documented install, and no file of the repository is changed', async () => {
    expectSuccess(await sh((await documentedInstall()).split(' && ').at(-1)!));
    expect(existsSync(join(copy, 'node_modules/esbuild'))).toBe(false);
    expect(expectSuccess(await git('status', '--porcelain'))).toBe('');
    expectSuccess(await sh('npm sbom --omit=dev --package-lock-only'));
  }, 120_000);

  it('serves by npm start, and ends on SIGTERM', async () => {
    const env = { ...ENVIRONMENT, PORT: '0', PATCHBAY_DATA_DIR: join(base, 'data') };
    const npm = spawn('npm', ['start'], { cwd: copy, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await waitFor(() => /Listening on [^"]+/.test(output), 'the server to listen', 20_000);
    const server = Number(/"pid":(\d+)/.exec(output)![1]);
    npm.kill('SIGTERM');
    await once(npm, 'close');
    await waitFor(() => !isRunning(server), 'the server to end');
    expect(output).toContain('SIGTERM: stopping');
  }, 60_000);

  it('goes on to another commit, as the documented upgrade does', async () => {
    expectSuccess(await git('checkout', '-q', '-b', 'next'));
    const lock = join(copy, 'package-lock.json');
    await writeFile(lock, `${await readFile(lock, 'utf8')}\n`);
    expectSuccess(await git('commit', '-qam', 'next'));
    expectSuccess(await git('checkout', '-q', '-'));
    expectSuccess(await git('checkout', '-q', 'next'));
  });

  it('says what to do where it is to be built without development packages', async () => {
    const { code, said } = await sh('npm ci --prefer-offline --no-audit --no-fund', {
      NODE_ENV: 'production',
    });
    expect(code).not.toBe(0);
    expect(said).toContain('the build needs the development packages');
    expect(said).toContain('npm ci --include=dev');
    expect(said).not.toContain('TS2307');
  }, 120_000);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
