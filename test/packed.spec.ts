import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { startTestServer, type TestServer } from './support/server.js';
import { describeWith, NODE_24 } from './support/system-commands.js';

/* What we publish, as who installs it finds it. */

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** The ten lines that a first user writes. */
const USE = `import { PatchbayClient, PatchbayError } from '@patchbay/client';
import { DiskJournals } from '@patchbay/client/home';
import { RelayClient } from '@patchbay/client/relay';
import { applyBatch } from '@patchbay/workspace';
import { textEditor } from '@patchbay/workspace/text';
const [url, email] = process.argv.slice(2) as [string, string];
const patchbay = new PatchbayClient({ url });
await patchbay.register({ email, password: 'correct horse battery' });
const { id: workspaceId } = await patchbay.createWorkspace('Packed');
const token = () => patchbay.accessToken();
const approver = { decide: async () => ({ decision: 'allow', by: email, at: new Date().toISOString() }) as const };
const texts = new Map([['notes/a.md', 'a\\n']]);
const editor = textEditor({ name: 'notes', rootId: crypto.randomUUID(), texts, approver });
const relay = new RelayClient({ url, token, workspaceId, clientId: 'c', journal: new DiskJournals('home'), ...editor });
await relay.connect();
const workspace = patchbay.workspace(workspaceId);
const made = await workspace.callTool('workspace_create_file', { path: 'b.md', content: 'b\\n' });
await relay.close();
const refused = await workspace.patch(workspaceId).catch((error: PatchbayError) => error.code);
console.log(JSON.stringify([made.success, [...texts.keys()], refused, typeof applyBatch]));
`;

/** The same as a CommonJS module, such as an extension of VS Code: nothing there can await at its top. */
const USE_IN_COMMONJS = `${USE.replace('const [url, email]', 'async function main() {\nconst [url, email]')}}
void main();
`;
/** As `yo code` sets up an extension, in a package.json that says nothing of modules. */
const EXTENSION = {
  compilerOptions: {
    ...{ module: 'Node16', target: 'ES2022', outDir: 'out', lib: ['ES2022'], sourceMap: true },
    ...{ rootDir: 'src', strict: true, types: ['node'] },
  },
};

const SETTINGS: ts.CompilerOptions = {
  strict: true,
  target: ts.ScriptTarget.ES2023,
  noEmit: true,
  skipLibCheck: false,
  types: ['node'],
};

/** What the compiler finds fault with in the file of a user and in the types of ours that it refers to. */
function typeFaults(file: string, found: ts.CompilerOptions): string {
  const options = { ...SETTINGS, ...found };
  const host = ts.createCompilerHost(options);
  host.getCurrentDirectory = () => dirname(file);
  const program = ts.createProgram([file], options, host);
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => fileName === file || fileName.includes('/@patchbay/'));
  expect(ours.length).toBeGreaterThan(20);
  const faults = ours.flatMap((one) => ts.getPreEmitDiagnostics(program, one));
  return ts.formatDiagnostics(faults, host);
}

interface Packed {
  name: string;
  filename: string;
  files: { path: string }[];
}

describe('The packages as npm packs them', () => {
  let folder: string;
  let packed: Packed[];
  let server: TestServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-packed-'));
    const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/pack-packages.mjs'), folder]);
    packed = JSON.parse(stdout) as Packed[];
    const tarballs = packed.map(({ filename }) => `./${filename}`);
    await writeFile(
      join(folder, 'package.json'),
      '{ "name": "first-use", "private": true, "type": "module" }',
    );
    const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    await run('npm', ['install', ...quiet, ...tarballs], { cwd: folder });
    await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
    for (const types of ['@types/node', 'undici-types'])
      await cp(join(ROOT, 'node_modules', types), join(folder, 'node_modules', types), { recursive: true });
    await writeFile(join(folder, 'use.ts'), USE);
    server = await startTestServer();
  }, 120_000);
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('have a README and the licence, and neither build state nor tests', () => {
    expect(packed.map(({ name }) => name).sort()).toEqual(
      ['cli', 'client', 'protocol', 'workspace'].map((name) => `@patchbay/${name}`),
    );
    for (const { files } of packed) {
      const paths = files.map(({ path }) => path);
      expect(paths).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']));
      expect(paths.filter((path) => /tsbuildinfo|\.spec\.|\.sample\.|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    }
  });

  it('carry one licence', async () => {
    const texts = await Promise.all(
      packed.map(({ name }) => readFile(join(folder, 'node_modules', name, 'LICENSE'), 'utf8')),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain('Copyright (c) 2026 Patchbay contributors');
  });

  it('have their sources in their source maps', async () => {
    for (const { name, files } of packed) {
      const maps = files.map(({ path }) => path).filter((path) => path.endsWith('.map'));
      for (const path of maps) {
        const map = JSON.parse(await readFile(join(folder, 'node_modules', name, path), 'utf8')) as {
          sourcesContent?: (string | null)[];
        };
        expect([path, map.sourcesContent?.every((text) => typeof text === 'string')]).toEqual([path, true]);
      }
    }
  });

  it('need each other in exactly this version, once', async () => {
    const installed = await readdir(join(folder, 'node_modules/@patchbay'));
    expect(installed.sort()).toEqual(['cli', 'client', 'protocol', 'workspace']);
    for (const name of installed) {
      const own = join(folder, 'node_modules/@patchbay', name);
      const manifest = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as {
        version: string;
        dependencies?: Record<string, string>;
      };
      const ours = Object.entries(manifest.dependencies ?? {}).filter(([to]) => to.startsWith('@patchbay/'));
      expect(ours.filter(([, version]) => version !== manifest.version)).toEqual([]);
      expect(existsSync(join(own, 'node_modules/@patchbay'))).toBe(false);
    }
  });

  it.each([
    ['Node finds', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
    ['a bundler finds', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ])('have types that hold in the strictest check, as %s them', (_, found) => {
    expect(typeFaults(join(folder, 'use.ts'), found)).toBe('');
  });

  const expectResult = async (node: string, email: string, file: string): Promise<void> => {
    const { stdout, stderr } = await run(node, [file, server.url, email], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([true, ['notes/a.md', 'notes/b.md'], 'NOT_FOUND', 'function']);
    expect(stderr).toBe('');
  };

  /** An account, an editor and a call in a few lines, on a Node of choice. */
  const expectToRun = async (node: string, email: string): Promise<void> => {
    const { transform } = await import('esbuild');
    const { code } = await transform(USE, { loader: 'ts', format: 'esm', target: 'es2023' });
    await writeFile(join(folder, 'use.mjs'), code);
    await expectResult(node, email, 'use.mjs');
    const cli = join(folder, 'node_modules/.bin/patchbay');
    expect((await run(node, [cli, '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/);
  };

  describe('in a CommonJS project, with the settings of the template for VS Code extensions', () => {
    const output = 'extension/out/use.js';
    let faults: string;
    beforeAll(async () => {
      const extension = join(folder, 'extension');
      await mkdir(join(extension, 'src'), { recursive: true });
      await writeFile(join(extension, 'package.json'), '{ "name": "extension" }');
      await writeFile(join(extension, 'tsconfig.json'), JSON.stringify(EXTENSION));
      await writeFile(join(extension, 'src/use.ts'), USE_IN_COMMONJS);
      const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', extension];
      const built = await run(process.execPath, tsc).catch((error: { stdout: string }) => error);
      faults = built.stdout;
    }, 120_000);

    it('have types that tsc takes', () => expect(faults).toBe(''));

    it('run on the Node at hand', () => expectResult(process.execPath, 'commonjs@example.com', output));

    it('are the same modules for require and import', async () => {
      const compare =
        "import('@patchbay/client').then((own) => console.log(own.PatchbayClient === require('@patchbay/client').PatchbayClient))";
      expect((await run(process.execPath, ['-e', compare], { cwd: folder })).stdout).toBe('true\n');
    });

    describeWith('Node 24 (node scripts/fetch-node.mjs 24)', 'on Node 24', () => {
      it('run as well', () => expectResult(NODE_24, 'commonjs24@example.com', output));
    });
  });

  it('run on the Node at hand', () => expectToRun(process.execPath, 'here@example.com'));

  describeWith('Node 24 (node scripts/fetch-node.mjs 24)', 'on Node 24', () => {
    it('run as well', () => expectToRun(NODE_24, 'node24@example.com'));
  });
});
