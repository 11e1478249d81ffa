import { packBlobs } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('the server tools', () => {
  const fixture = suiteFixture(() => ToolsFixture.start({ searchMs: 2_000 }));

  describe('glob', () => {
    const PATHS = [
      '/src/a.ts',
      '/src/a.spec.ts',
      '/src/api/b.ts',
      '/src/web/c.TSX',
      '/docs/a.md',
      '/[x].md',
      '/s',
    ];
    let there: ToolsFixture;
    beforeAll(async () => {
      there = await fixture.elsewhere();
      for (const path of PATHS) await there.write(path);
    });
    const globbed = async (pattern: string, more: object = {}) =>
      (await there.ok<{ files: { path: string }[] }>('glob', { pattern, ...more })).files.map(
        ({ path }) => path,
      );

    it.each([
      ['*', ['/[x].md', '/s']],
      [
        '**',
        ['/[x].md', '/docs/a.md', '/s', '/src/a.spec.ts', '/src/a.ts', '/src/api/b.ts', '/src/web/c.TSX'],
      ],
      ['**/*.ts', ['/src/a.spec.ts', '/src/a.ts', '/src/api/b.ts']],
      ['/SRC/*.ts', ['/src/a.spec.ts', '/src/a.ts']],
      ['src/**', ['/src/a.spec.ts', '/src/a.ts', '/src/api/b.ts', '/src/web/c.TSX']],
      ['src/{api,web}/**/*.{ts,tsx}', ['/src/api/b.ts', '/src/web/c.TSX']],
      ['{docs,src}/?.{md,t[st]}', ['/docs/a.md', '/src/a.ts']],
      ['src/[!b-z].ts', ['/src/a.ts']],
      ['[[]x].md', ['/[x].md']],
      ['**/a.*', ['/docs/a.md', '/src/a.spec.ts', '/src/a.ts']],
      ['src/a.ts', ['/src/a.ts']],
      ['src/a?ts', ['/src/a.ts']],
      ['src', []],
      ['(a+)+$', []],
    ])('%s', async (pattern, expected) => {
      expect(await globbed(pattern)).toEqual(expected);
    });

    it('looks below a folder, up to a limit', async () => {
      expect(await globbed('*.ts', { path: '/SRC/' })).toEqual(['/src/a.spec.ts', '/src/a.ts']);
      const { isTruncated } = await there.ok<{ isTruncated: boolean }>('glob', { pattern: '**', limit: 2 });
      expect(isTruncated).toBe(true);
    });

    it('rejects an invalid pattern', async () => {
      for (const pattern of ['{a', '[a', '{{{{{{a}}}}}}', '[z-a]', 'x'.repeat(501)]) {
        const answer = await there.call('glob', { pattern });
        expect([pattern.slice(0, 9), answer.status]).toEqual([pattern.slice(0, 9), 400]);
        expect(answer.body.fields).toHaveProperty('pattern');
      }
    });

    it('matches paths by docPath, where no name has a slash', async () => {
      await there.write('/İstanbul/A.txt');
      const { files } = await there.ok<{ files: { docPath: string }[] }>('glob', { pattern: 'İstanbul/*' });
      const [{ docPath }] = files as [{ docPath: string }];
      expect(await globbed(docPath)).toEqual(['/İstanbul/A.txt']);
      const answer = await there.call('glob', { pattern: 'İstanbul[.-0]A.txt' });
      expect(answer).toMatchObject({
        status: 400,
        body: { fields: { pattern: expect.anything() as string } },
      });
    });

    it('takes bounded time, whatever the pattern', async () => {
      await there.write(`/${'a'.repeat(250)}`);
      // Without a bound they would take longer than anybody waits.
      for (const pattern of [`${'*a'.repeat(200)}b`, `${'**/'.repeat(100)}b`, `{${'a,'.repeat(200)}a}`]) {
        expect((await there.call('glob', { pattern })).status).toBeLessThan(500);
      }
    });
  });

  describe('grep', () => {
    let there: ToolsFixture;
    beforeAll(async () => {
      there = await fixture.elsewhere();
      await there.write('/src/a.ts', 'const one = 1;\r\nconst Two = 2;\n// a.b');
      await there.write('/src/b.md', { text: 'one\nONE\naxb' });
      await there.write('/data.json', { one: [1] });
      await there.raw('PUT', '/contents/binary', {}, Buffer.from([0x6f, 0x6e, 0x65, 0, 0xff]));
    });
    type Found = {
      matches: { path: string; line: number; text: string }[];
      filesSearched: number;
      isTruncated: boolean;
    };
    /** What a search finds; others are answered while it goes on. */
    const beside = async (search: Promise<Found>): Promise<Found> => {
      const ended: string[] = [];
      const searched = search.finally(() => ended.push('search'));
      for (let list = 0; list < 5; list += 1) {
        await there.list('/');
        ended.push('list');
      }
      const found = await searched;
      expect(ended).toEqual([...Array.from({ length: 5 }, () => 'list'), 'search']);
      return found;
    };
    const grepped = async (args: object) =>
      (await there.ok<Found>('grep', args)).matches.map(({ path, line }) => `${path}:${line}`);

    it('finds lines by expression, by text, in any case, in a file or below a folder', async () => {
      expect(await there.ok('grep', { pattern: '^const (o|t)' })).toEqual({
        ...{
          matches: [{ path: '/src/a.ts', line: 1, text: 'const one = 1;' }],
          filesSearched: 3,
          isTruncated: false,
        },
      });
      expect(await grepped({ pattern: 'one' })).toEqual(['/data.json:1', '/src/a.ts:1', '/src/b.md:1']);
      expect(await grepped({ pattern: 'one$', ignoreCase: true })).toEqual(['/src/b.md:1', '/src/b.md:2']);
      expect(await grepped({ pattern: 'a.b' })).toEqual(['/src/a.ts:3', '/src/b.md:3']);
      expect(await grepped({ pattern: 'a.b', literal: true })).toEqual(['/src/a.ts:3']);
      expect(await grepped({ pattern: 'one', path: '/src/b.md' })).toEqual(['/src/b.md:1']);
      expect(await grepped({ pattern: 'one', path: '/src', glob: '*.ts' })).toEqual(['/src/a.ts:1']);
      expect(await there.ok('grep', { pattern: '.', limit: 2 })).toMatchObject({ isTruncated: true });
    });

    it('finds a match far into a long line and shows its surroundings', async () => {
      await there.write('/long/one', `${'x'.repeat(2_500)}NEEDLE${'y'.repeat(5_000)}`);
      await there.write('/long/edge', `${'z'.repeat(2_000)}b`);
      const { matches } = await there.ok<Found>('grep', { pattern: 'N.*E', path: '/long' });
      expect(matches).toHaveLength(1);
      expect(matches[0]!.text).toBe(`…${'x'.repeat(100)}NEEDLE${'y'.repeat(194)}…`);
      for (const pattern of ['z$', '^b', '^y', '\\bx{900}\\b']) {
        expect([pattern, await grepped({ pattern, path: '/long' })]).toEqual([pattern, []]);
      }
      expect(await grepped({ pattern: 'y$', path: '/long' })).toEqual(['/long/one:1']);
      await there.write('/long/code', `export const a = 1;${'x'.repeat(4_000)} needle end`);
      for (const pattern of [
        '^export.*',
        '\\bexport\\b.*',
        '^.*$',
        '^[^;]*;.*',
        '^export',
        'needle end$',
        '\\$?needle',
      ]) {
        expect([pattern, await grepped({ pattern, path: '/long/code' })]).toEqual([
          pattern,
          ['/long/code:1'],
        ]);
      }
      expect(await grepped({ pattern: 'zb$', path: '/long' })).toEqual(['/long/edge:1']);
    });

    it('reports every fault at once, and rejects a folder as a file', async () => {
      const { body } = await there.call('grep', { pattern: '(', glob: '[', path: '..' });
      expect(Object.keys(body.fields!).sort()).toEqual(['glob', 'path', 'pattern']);
      expect((await there.call('grep', { pattern: 'a', path: '/src/a.ts/' })).body.fields).toHaveProperty(
        'path',
      );
    });

    it('rejects an invalid expression, one that is too complex, and a missing path', async () => {
      for (const pattern of ['(', 'a(?=b)', '(a)\\1', '((a{0,30}){0,30}){0,30}', 'a{1001}']) {
        const answer = await there.call('grep', { pattern });
        expect([pattern, answer.status]).toEqual([pattern, 400]);
        expect(answer.body.fields).toHaveProperty('pattern');
      }
      expect((await there.call('grep', { pattern: 'a', path: '/none' })).status).toBe(404);
      expect((await there.call('grep', { pattern: 'a', glob: '[' })).body.fields).toHaveProperty('glob');
    });

    it('checks a pattern that is slow to compile when there is nothing to search, too [TOOL-5]', async () => {
      const empty = await there.elsewhere();
      const answer = await empty.call('grep', { pattern: `${'a'.repeat(150)}(` });
      expect([answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([400, ['pattern']]);
      expect((await empty.call('grep', { pattern: 'a{2}'.repeat(50) })).status).toBe(200);
    });

    it('takes bounded time for any pattern, and others run meanwhile', async () => {
      const noise = (length: number) =>
        Array.from({ length }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
      const text = noise(20_000);
      await there.write('/slow/one-line', text);
      await there.write('/slow/many-lines', Array.from({ length: 4000 }, () => noise(1000)).join('\n'));
      const slow = there.ok<Found>('grep', { pattern: '(a[ab]{400}[cd]|b[ab]{400}[ce])$', path: '/slow' });
      expect((await beside(slow)).isTruncated).toBe(true);
      expect(await grepped({ pattern: '(a+)+$', path: '/src' })).toEqual([]);
    });

    it('takes bounded time with a slow glob that matches no path', async () => {
      const crowd = await fixture.elsewhere();
      const noise = () => Array.from({ length: 240 }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
      await crowd.raw('POST', '/blobs', {}, packBlobs([Buffer.from('x')]));
      const files = Array.from({ length: 1_000 }, () => ({
        path: `d/${noise()}/${noise()}`,
        ...{ sha256: sha256('x'), baseSha256: null },
      }));
      await crowd.user.post(`${crowd.base}/files/commit`, { files });
      const slow = crowd.ok<Found>('grep', { pattern: 'zzz', glob: `**/*a${'?'.repeat(200)}c` });
      expect((await beside(slow)).matches).toEqual([]);
    });
  });
});
