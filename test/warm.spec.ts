import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';

const SUPPORT = fileURLToPath(new URL('support/', import.meta.url));
const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));

/** Counts how often it is loaded, and loads another module later. */
const counting = (name: string, later: string): string => `
  globalThis.loads = { ...globalThis.loads, ${name}: (globalThis.loads?.${name} ?? 0) + 1 };
  export const later = () => import('${later}');
`;

/** Files of tests: what each finds goes into a message that it fails with. */
const spec = (begins: string): string => `
  import { jest } from '@jest/globals';
  import { later } from 'a-package';
  import { later as ours } from './ours.mjs';
  it('tells', async () => {
    const found = { variable: process.env.OF_A_TEST ?? null, now: Date.now() > 1e6 };
    process.env.OF_A_TEST = 'set';
    ${begins}
    await Promise.all([later(), ours()]);
    throw new Error(JSON.stringify({ ...found, ...globalThis.loads }));
  });
`;
const PLAIN = spec('');
const HOLDS_CLOCK = spec(`jest.useFakeTimers({ now: 0, doNotFake: ['nextTick'] });`);

/** The order in which they run. */
const BY_NAME = `
  module.exports = class {
    sort(tests) {
      return tests.sort((a, b) => (a.path < b.path ? -1 : 1));
    }
    cacheResults() {}
  };
`;

const CONFIG = {
  ...{ testMatch: ['**/*.spec.mjs'], transform: {}, maxWorkers: 1, testSequencer: '<rootDir>/by-name.cjs' },
  runtime: join(SUPPORT, 'warm-runtime.cjs'),
  testEnvironment: join(SUPPORT, 'warm-environment.cjs'),
};

describe('The test files of a worker', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-warm-'));
    const inPackage = join(folder, 'node_modules/a-package');
    await mkdir(inPackage, { recursive: true });
    const files = {
      'node_modules/a-package/package.json': '{ "name": "a-package", "type": "module", "main": "main.js" }',
      'node_modules/a-package/main.js': counting('itsMain', './later.js'),
      'node_modules/a-package/later.js': counting('itsLater', './main.js'),
      'ours.mjs': counting('ours', './ours-later.mjs'),
      'ours-later.mjs': counting('oursLater', './ours.mjs'),
      'a.spec.mjs': HOLDS_CLOCK,
      'b.spec.mjs': PLAIN,
      'c.spec.mjs': PLAIN,
      'd.spec.mjs': HOLDS_CLOCK,
      'by-name.cjs': BY_NAME,
      'jest.config.json': JSON.stringify(CONFIG),
    };
    for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('share what is loaded, but for our modules where one holds a clock, and neither variables nor the clock', async () => {
    const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules --no-warnings' };
    const run = promisify(execFile)(process.execPath, [JEST, '--json'], { cwd: folder, env });
    const { stdout } = await run.catch((failed: { stdout: string }) => failed);
    const { testResults } = JSON.parse(stdout) as { testResults: { message: string }[] };
    const told = testResults.map(({ message }) => JSON.parse(/\{"variable.*\}/.exec(message)![0]) as unknown);
    const found = { variable: null, now: true, itsMain: 1, itsLater: 1 };
    expect(told).toEqual([
      { ...found, ours: 1, oursLater: 1 },
      { ...found, ours: 2, oursLater: 2 },
      { ...found, ours: 2, oursLater: 2 },
      { ...found, ours: 3, oursLater: 3 },
    ]);
  });
});
