import { execFileSync } from 'node:child_process';
import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { put, SyncFixture } from '../support/sync-fixture.js';
import { ToolsFixture } from '../support/tools-fixture.js';

describe('push and pull', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  const setup = testFixture(() => SyncFixture.start(shared));

  describe('push', () => {
    it('skips files that git ignores, .git, the own home, links, binaries and files that are too large', async () => {
      const folder = await setup.folder('p', {
        '.git/config': 'x',
        '.gitignore': '*.log\n/dist/\n!keep.log\n',
        'keep.log': 'kept',
        'drop.log': 'x',
        'dist/out.js': 'x',
        'sub/dist/in.js': 'kept',
        'sub/.gitignore': 'local.txt\n',
        'sub/local.txt': 'x',
        'local.txt': 'kept',
        'latin1.txt': Buffer.from([0xe4, 0xf6]),
        'nul.txt': 'a\0b',
        'large.txt': 'x'.repeat(1001),
        'sub/.git': 'gitdir: elsewhere',
      });
      await symlink('/etc/passwd', join(folder, 'link'));
      await symlink(setup.directory, join(folder, 'up'));
      execFileSync('mkfifo', [join(folder, 'fifo')]);
      const { code, out } = await setup.push(
        folder,
        '--max-file-bytes',
        '1000',
        '--home',
        join(folder, 'home'),
      );
      expect(code).toBe(0);
      expect(Object.keys(await setup.cloud())).toEqual([
        '/p/.gitignore',
        '/p/keep.log',
        '/p/local.txt',
        '/p/sub/.gitignore',
        '/p/sub/dist/in.js',
      ]);
      expect(out).toBe(
        [
          'sent 5 files (45 B, 37 B over the wire), 0 unchanged.',
          'left out 3 files: 3 named by .gitignore; --verbose lists them.',
          'skipped 6:',
          '  fifo: is not a regular file',
          '  large.txt: is too large: 1.0 kB; the limit is 1.0 kB',
          '  latin1.txt: is binary: it has NUL bytes or is not UTF-8',
          '  link: is a link, and links are not followed',
          '  nul.txt: is binary: it has NUL bytes or is not UTF-8',
          '  up: is a link, and links are not followed',
          '',
        ].join('\n'),
      );
    });

    it('skips files that may hold secrets, says so, and sends those that are requested', async () => {
      const folder = await setup.folder('p', {
        ...{
          '.env': 'KEY=1',
          '.env.example': 'KEY=',
          'api/.env.test': 'KEY=2',
          'certs/a.pem': 'x',
          'a.txt': 'a',
        },
      });
      const { code, out } = await setup.push(folder);
      expect(code).toBe(0);
      expect(await setup.cloud()).toEqual({ '/p/.env.example': 'KEY=', '/p/a.txt': 'a' });
      expect(out).toBe(
        [
          'sent 2 files (5 B), 0 unchanged.',
          'left out as they may contain secrets 3:',
          '  .env: is not sent',
          '  api/.env.test: is not sent',
          '  certs/a.pem: is not sent',
          '  --include-secrets <pattern> sends those that match, as in .gitignore; it may be repeated.',
          '',
        ].join('\n'),
      );
      await setup.push(folder, '--include-secrets', '.env.test', '--include-secrets', '*.pem');
      expect(Object.keys(await setup.cloud())).toEqual([
        '/p/.env.example',
        '/p/a.txt',
        '/p/api/.env.test',
        '/p/certs/a.pem',
      ]);
    });

    it.each([[], ['--force'], ['--delete']])(
      'leaves in the Cloud what an earlier push has sent of a secret, and sends nothing newer of it, with %j',
      async (...flags) => {
        const folder = await setup.folder('p', { '.env': 'KEY=1', 'a.txt': 'a' });
        await setup.push(folder, '--include-secrets', '.env');
        await put(folder, { '.env': 'KEY=2' });
        const { out } = await setup.push(folder, ...flags);
        expect(out).toContain(
          '  .env: was sent before; that version stays in the Cloud until it is deleted there',
        );
        expect(await setup.cloud()).toEqual({ '/p/.env': 'KEY=1', '/p/a.txt': 'a' });
      },
    );

    it('reports files that differ only by case and sends neither', async () => {
      const folder = await setup.folder('p', { 'src/Foo.ts': '1', 'src/foo.ts': '2', 'src/bar.ts': '3' });
      const { code, out } = await setup.push(folder);
      expect(code).toBe(8);
      expect(out).toContain('  src/Foo.ts: differs from src/foo.ts only by case');
      expect(out).toContain('  src/foo.ts: differs from src/Foo.ts only by case');
      expect(await setup.cloud()).toEqual({ '/p/src/bar.ts': '3' });
    });

    it('reports files whose names the Cloud rejects and files that cannot be read', async () => {
      const folder = await setup.folder('p', {
        'back\\slash': '1',
        'new\nline': '1',
        'a:b': 'taken',
        good: '1',
      });
      const { code, out } = await setup.push(folder);
      expect(code).toBe(8);
      expect(out).toContain('  back\\slash: has a name that the Cloud refuses');
      expect(out).toContain('  new\\x0aline: has a name that the Cloud refuses');
      expect(Object.keys(await setup.cloud())).toEqual(['/p/a:b', '/p/good']);
      if (process.getuid?.() === 0) return;
      await chmod(join(folder, 'good'), 0);
      expect((await setup.push(folder)).out).toContain('  good: cannot be read');
    });
  });
});
