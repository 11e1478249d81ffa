import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ToolContract } from '@patchbay/protocol';
import ts from 'typescript';
import { freePort, ServerProcess } from './support/processes.js';
import { registerUser } from './support/test-user.js';
import type { ToolAnswer } from './support/tools-scene.js';

const ROOT = join(import.meta.dirname, '..');

/** The worked example: the file that it says to add, from the root, and what is in it. */
async function example(): Promise<{ path: string; source: string }> {
  const page = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const [, path, source] = /^```ts\n\/\/ (\S+)\n([^]*?)^```/m.exec(page)!;
  return { path: path!, source: source! };
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

describe('the worked example of CONTRIBUTING.md', () => {
  let directory: string;
  let server: ServerProcess | undefined;
  // The compiler reads all that the example refers to.
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-contributing-'));
    await cp(join(ROOT, 'dist'), join(directory, 'dist'), { recursive: true });
    await cp(join(ROOT, 'package.json'), join(directory, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    const { path, source } = await example();
    const built = path.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js');
    await writeFile(join(directory, built), compile(path, source));
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
