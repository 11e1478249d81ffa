import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ToolContract } from '@patchbay/protocol';
import ts from 'typescript';
import { aDatabaseOn, MONGO_SERVER } from './support/mongo-server.js';
import { freePort, ServerProcess } from './support/processes.js';
import { registerUser } from './support/test-user.js';
import type { ToolAnswer } from './support/tools-fixture.js';

const ROOT = join(import.meta.dirname, '..');

/** What the page says that the file at this path, from the root, holds. */
async function example(path: string): Promise<string> {
  const page = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const [, source] = page.split(`\`\`\`ts\n// ${path}\n`);
  return source!.slice(0, source!.indexOf('```'));
}

/** A copy of the built server, in a directory of its own, with the example in it. */
async function serverWith(path: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'patchbay-contributing-'));
  await cp(join(ROOT, 'dist'), join(directory, 'dist'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(directory, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const built = path.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js');
  await writeFile(join(directory, built), compile(path, await example(path)));
  return directory;
}

/** JavaScript for a file that is not there, compiled where it would be; throws what the compiler finds fault with. */
function compile(path: string, source: string): string {
  const file = join(ROOT, path);
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.build.json'),
    { incremental: false, sourceMap: false, inlineSources: false },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  )!;
  const host = ts.createCompilerHost(config.options);
  host.readFile = (name) => (name === file ? source : ts.sys.readFile(name));
  host.fileExists = (name) => name === file || ts.sys.fileExists(name);
  const program = ts.createProgram([file], config.options, host);
  const compiled = program.getSourceFile(file)!;
  const faults = ts.getPreEmitDiagnostics(program, compiled);
  if (faults.length > 0) throw new Error(ts.formatDiagnostics(faults, host));
  let output = '';
  program.emit(compiled, (_name, text) => (output = text));
  return output;
}

describe('the server tool that CONTRIBUTING.md shows', () => {
  let directory: string;
  let server: ServerProcess | undefined;
  // The compiler reads all that the example refers to.
  beforeAll(async () => {
    directory = await serverWith('src/tools/count-lines.tool.ts');
    await cp(join(ROOT, 'scripts/bundle-server.mjs'), join(directory, 'scripts/bundle-server.mjs'));
    await promisify(execFile)(process.execPath, [join(directory, 'scripts/bundle-server.mjs')]);
    const main = join(directory, 'dist/main.js');
    server = await ServerProcess.start(join(directory, 'data'), await freePort(), {}, main);
  }, 90_000);
  afterAll(async () => {
    await server?.kill();
    await rm(directory, { recursive: true });
  });

  it('is a tool of the catalog, which runs, with no other file changed', async () => {
    const user = await registerUser(server!);
    const tools = `/workspaces/${(await user.createWorkspace()).id}/tools`;
    const { body } = await user.get<{ tools: ToolContract[] }>(tools);
    const names = body.tools.filter((tool) => tool.executionLocation === 'server').map(({ name }) => name);
    expect(names.at(-1)).toBe('count_lines');
    const call = async (tool: string, args: object) => {
      const answer = await user.post<Partial<ToolAnswer>>(tools, { tool, args });
      return { ...answer.body, status: answer.status };
    };
    await call('write', { path: '/a.txt', content: 'one\ntwo\n' });
    const counted = { status: 200, result: { path: '/a.txt', lines: 2 } };
    expect(await call('count_lines', { path: 'A.txt' })).toMatchObject(counted);
    for (const args of [{}, { path: '../a' }]) {
      const refused = await call('count_lines', args);
      expect([refused.status, Object.keys(refused.fields ?? {})]).toEqual([400, ['path']]);
    }
    expect(await call('count_lines', { path: '/none' })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

/** Opens a store of each backend that is named, and says what the bookmarks of one workspace do. */
const USE_BOOKMARKS = `
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { BookmarkStore } from './dist/storage/records/bookmarks.js';
import { WorkspaceStore } from './dist/storage/ports/workspaces.store.js';
import { SqliteStorageModule } from './dist/storage/sqlite/sqlite.module.js';
import { MongoStorageModule } from './dist/storage/mongo/mongo.module.js';
import { KINDS } from './dist/storage/transfer/records.js';

const [, , uri] = process.argv;
const backends = [SqliteStorageModule.on('data'), ...(uri ? [MongoStorageModule.on(uri)] : [])];
const said = [];
for (const backend of backends) {
  const app = await NestFactory.createApplicationContext(backend, { logger: false, abortOnError: false });
  const [bookmarks, workspaces] = [BookmarkStore, WorkspaceStore].map((token) => app.get(token, { strict: false }));
  const workspace = { id: 'w', name: 'W', createdAt: 1, createdBy: 'ada', version: 0, approvals: [], members: [] };
  await workspaces.insert(workspace);
  const one = { workspaceId: 'w', docPath: 'a', userId: 'ada', tags: [], addedAt: 1, revision: 1 };
  const two = { ...one, docPath: 'b' };
  const added = [];
  for (const bookmark of [one, one, two]) added.push(await bookmarks.add(bookmark));
  const tagged = await Promise.all(['x', 'y', 'x'].map((tag) => bookmarks.tag('w', 'a', tag)));
  const [newest] = await bookmarks.list('w', undefined, 1);
  const [oldest] = await bookmarks.list('w', newest, 9);
  const nowhere = await bookmarks.add({ ...one, workspaceId: 'none' }).catch(({ code }) => code);
  await bookmarks.remove('w', 'a');
  const left = (await bookmarks.list('w', undefined, 9)).map(({ docPath }) => docPath);
  said.push({ added, tagged, newest: newest.docPath, tags: oldest.tags.sort(), nowhere, left, exported: KINDS.bookmarks });
  await app.close();
}
console.log(JSON.stringify(said));
`;

describe('the small record that CONTRIBUTING.md shows', () => {
  it('is stored on each backend, with one line in the list of ports beside it', async () => {
    const directory = await serverWith('src/storage/records/bookmarks.ts');
    const mongo = MONGO_SERVER === undefined ? null : aDatabaseOn(MONGO_SERVER);
    try {
      const list = join(directory, 'dist/storage/records/records.js');
      const ports = (await readFile(list, 'utf8')).replace('RECORD_PORTS = [', '$&BookmarkStore, ');
      await writeFile(list, `import { BookmarkStore } from './bookmarks.js';\n${ports}`);
      await writeFile(join(directory, 'use.mjs'), USE_BOOKMARKS);
      const run = promisify(execFile)(process.execPath, ['use.mjs', mongo?.uri ?? ''], { cwd: directory });
      const expected = {
        ...{ added: [true, false, true], tagged: [true, true, true], newest: 'b', tags: ['x', 'y'] },
        ...{ nowhere: 'NOT_FOUND', left: ['b'], exported: 'bookmarks' },
      };
      expect(JSON.parse((await run).stdout)).toEqual(mongo === null ? [expected] : [expected, expected]);
    } finally {
      await mongo?.drop();
      await rm(directory, { recursive: true });
    }
  }, 90_000);
});
