import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './support/sources.js';

const SPEC = `import { add, isLong, wait } from './text.js';
it('adds', () => expect(add('a', 'b')).toBe('ab'));
it('knows what is long', () => expect(isLong('abcd')).toBe(true));
it('waits', async () => await wait(), 500);
`;
const TEXT = `export const add = (a: string, b: string) => a + b;
export const isLong = (text: string) => text.length > 3;
export const wait = () => Promise.resolve();
`;
const PAGE = `# Tests

<!-- What \`npm run mutate -- --write\` writes begins here. -->

<!-- It ends here. -->

More.
`;
const common = { file: 'src/text.ts', specs: ['src/text.spec.ts'] };
const ADDS_NOTHING = { ...common, name: 'adds nothing', find: 'a + b', replace: 'a' };
const HANGS = { ...common, name: 'hangs', find: 'Promise.resolve()', replace: 'new Promise(() => {})' };
const DIES = { ...common, name: 'dies', find: 'Promise.resolve()', replace: 'process.kill(process.pid, 9)' };
const OFF_BY_ONE = { ...common, name: 'a long text is not long', find: '> 3', replace: '> 2' };

interface Ran {
  status: number;
  out: string;
  err: string;
}

describe('npm run mutate', () => {
  let directory: string;
  let project: string;
  let scratch: string;
  beforeEach(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-mutate-')));
    project = join(directory, 'project');
    scratch = join(directory, 'scratch');
    const files = {
      'src/text.ts': TEXT,
      'src/text.spec.ts': SPEC,
      'docs/testing.md': PAGE,
      'package.json': '{ "type": "module" }',
      'jest.config.js': `import ours from '${ROOT}/jest.config.js';
const { transform, extensionsToTreatAsEsm, moduleNameMapper } = ours;
export default { transform, extensionsToTreatAsEsm, moduleNameMapper };
`,
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(project, dirname(path)), { recursive: true });
      await writeFile(join(project, path), text);
    }
    await mkdir(scratch, { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  });
  afterEach(async () => await rm(directory, { recursive: true }));

  /** @param given options, and what the table says beside its faults */
  async function mutate(faults: object[], ...given: string[]): Promise<Ran> {
    const isMore = (text: string): boolean => text.startsWith('export ');
    const args = given.filter((text) => !isMore(text));
    await mkdir(join(project, 'test/mutations'), { recursive: true });
    await writeFile(
      join(project, 'test/mutations/texts.mjs'),
      [`export const FAULTS = ${JSON.stringify(faults)};`, ...given.filter(isMore)].join('\n'),
    );
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [join(ROOT, 'scripts/mutate.mjs'), ...args],
        { cwd: project, env: { ...process.env, TMPDIR: scratch } },
        (error, out, err) => resolve({ status: error ? Number(error.code) : 0, out, err }),
      );
    });
  }

  it('tells a fault that a test notices from one that none does, and leaves the project as it is', async () => {
    const same = {
      ...ADDS_NOTHING,
      name: 'adds the empty text',
      replace: "a + '' + b",
      equivalent: 'It is.',
    };
    const { status, out } = await mutate([ADDS_NOTHING, HANGS, DIES, OFF_BY_ONE, same], '--write');
    expect(out.split('\n').slice(0, 4)).toEqual([
      'texts  noticed    adds nothing  (src/text.spec.ts: adds)',
      'texts  noticed    hangs  (src/text.spec.ts: waits)',
      'texts  noticed    dies  (src/text.spec.ts: waits (the process ended))',
      'texts  UNNOTICED  a long text is not long',
    ]);
    expect(status).toBe(1);
    expect(await readFile(join(project, 'src/text.ts'), 'utf8')).toBe(TEXT);
    const today = new Date().toISOString().slice(0, 10);
    const page = await readFile(join(project, 'docs/testing.md'), 'utf8');
    expect(page.replace(/ +/g, ' ')).toContain(
      `| texts | 5 | 1 | 3 | a long text is not long | ${today} |\n`,
    );
    expect(page).toContain('- texts, adds the empty text: It is.\n');
    expect(await readdir(scratch)).toEqual([]);
  }, 60_000);

  it('is content where all that it was asked for is noticed', async () => {
    const elsewhere = { ...OFF_BY_ONE, file: 'src/text.spec.ts', find: "'abcd'", replace: "'abcde'" };
    const { status, out } = await mutate([{ ...ADDS_NOTHING, only: 'adds' }, elsewhere], 'src/text.ts');
    expect([status, out]).toEqual([0, expect.stringMatching(/texts +1 +0 +1 +0\n$/)]);
  }, 60_000);

  it.each([
    ['its line is gone', { ...ADDS_NOTHING, find: 'b + a' }, '`find` occurs 0 times in src/text.ts'],
    ['its line is there twice', { ...ADDS_NOTHING, find: 'export' }, '`find` occurs 3 times in src/text.ts'],
    ['it changes nothing', { ...ADDS_NOTHING, replace: 'a + b' }, '`replace` is what `find` is'],
    [
      'there is no such spec',
      { ...ADDS_NOTHING, specs: ['src/none.spec.ts'] },
      'there is no src/none.spec.ts',
    ],
  ])('refuses a fault where %s', async (_, fault, problem) => {
    const { status, err } = await mutate([fault]);
    expect([status, err]).toEqual([2, `texts: "adds nothing": ${problem}\n`]);
  });

  it('refuses a fault that no test can load, or that asks for a test that there is not', async () => {
    const syntax = await mutate([{ ...ADDS_NOTHING, replace: 'a +' }]);
    expect([syntax.status, syntax.err]).toEqual([2, expect.stringContaining('does not load with it')]);
    const unknown = await mutate([{ ...ADDS_NOTHING, only: 'subtracts' }]);
    expect([unknown.status, unknown.err]).toEqual([
      2,
      expect.stringContaining('no test of src/text.spec.ts'),
    ]);
  }, 60_000);

  it('does not begin a room that lacks what its specs need to have tests at all', async () => {
    const needed = 'PATCHBAY_TEST_NOTHING_HAS_THIS';
    const { status, err } = await mutate([ADDS_NOTHING], `export const NEEDS = ['${needed}'];`);
    expect([status, err]).toEqual([2, `texts needs ${needed}: docs/testing.md\n`]);
  });

  it('does not begin where a test fails without a fault', async () => {
    await writeFile(join(project, 'src/text.spec.ts'), SPEC.replace("toBe('ab')", "toBe('ba')"));
    const { status, err } = await mutate([ADDS_NOTHING]);
    expect([status, err]).toEqual([2, 'src/text.spec.ts fails without a fault: adds\n']);
  }, 60_000);

  it('has a line for each fault of our own tables', async () => {
    const { status, err } = await new Promise<Ran>((resolve) => {
      execFile(process.execPath, ['scripts/mutate.mjs', '--check'], { cwd: ROOT }, (error, out, err) =>
        resolve({ status: error ? Number(error.code) : 0, out, err }),
      );
    });
    expect([status, err]).toEqual([0, '']);
  });
});
