import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './support/sources.js';

const LOOPS = `it('ends', () => {});
it('goes round and round', () => { for (;;); });
`;

describe('a test that never lets go of its thread', () => {
  let project: string;
  beforeEach(async () => {
    project = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-endless-')));
    await writeFile(join(project, 'loop.spec.cjs'), LOOPS);
    // Two files, so that Jest runs them in processes of their own.
    await writeFile(join(project, 'other.spec.cjs'), `it('is quick', () => {});`);
    const reporter = [join(ROOT, 'test/support/endless-tests.mjs'), { limitMs: 500 }];
    const config = { testMatch: ['**/*.spec.cjs'], maxWorkers: 2, transform: {}, reporters: [reporter] };
    await writeFile(join(project, 'jest.config.json'), JSON.stringify(config));
    await writeFile(join(project, 'package.json'), '{}');
    await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  });
  afterEach(async () => await rm(project, { recursive: true }));

  it('is named while it runs', async () => {
    const jest = spawn(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js')], {
      cwd: project,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      let said = '';
      for await (const piece of jest.stderr) {
        said += String(piece);
        if (said.includes('No end after')) break;
      }
      expect(said).toMatch(/No end after \d+ s: .*loop\.spec\.cjs: goes round and round\n/);
    } finally {
      const ended = once(jest, 'exit');
      process.kill(-jest.pid!, 'SIGKILL');
      await ended;
    }
  });
});
