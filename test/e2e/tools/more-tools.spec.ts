import { randomUUID } from 'node:crypto';
import { Ajv } from 'ajv';
import { packBlobs } from '@patchbay/protocol';
import { contentHash, sha256 } from '@patchbay/protocol/hash';
import { ToolRegistry } from '../../../src/tools/tool-registry.js';
import { ToolsScene } from '../../support/tools-scene.js';

describe('the server tools', () => {
  let scene: ToolsScene;
  beforeAll(async () => {
    scene = await ToolsScene.start();
  });
  afterAll(() => scene.close());

  it('are in the catalog, each with guidance and schemas that compile', async () => {
    const { body } = await scene.user.get<{
      tools: { name: string; executionLocation: string; guidance: string }[];
    }>(`${scene.base}/tools`);
    const names = body.tools.filter((tool) => tool.executionLocation === 'server').map(({ name }) => name);
    expect(names).toEqual(scene.server.app.get(ToolRegistry).tools.map(({ contract }) => contract.name));
    expect(names).toEqual(
      expect.arrayContaining(['ls', 'read', 'write', 'rm', 'workspace_read_file', 'grep']),
    );
    for (const { name, guidance } of body.tools) expect(guidance).toContain(`# ${name}`);
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    for (const { contract } of scene.server.app.get(ToolRegistry).tools) {
      ajv.compile(contract.requestSchema);
      ajv.compile(contract.responseSchema);
    }
  });

  it('answer what their response schemas say', async () => {
    const there = await scene.elsewhere();
    const calls: [string, object][] = [
      ['write', { path: '/a/b.txt', content: 'one\ntwo\n' }],
      ['ls', { recursive: true }],
      ['read', { path: '/a/b.txt' }],
      ['edit', { path: '/a/b.txt', oldString: 'two', newString: '2' }],
      ['mkdir', { path: '/c' }],
      ['mv', { from: '/a/b.txt', to: '/c/b.txt' }],
      ['glob', { pattern: '**' }],
      ['grep', { pattern: 'one' }],
      ['workspace_read_file', { docPath: 'c/b.txt' }],
      ['workspace_list_files', {}],
      ['workspace_list_active_files', {}],
      ['code_hash_normalized', { content: 'x' }],
      ['rm', { path: '/c/b.txt' }],
    ];
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    const { tools } = scene.server.app.get(ToolRegistry);
    for (const [name, args] of calls) {
      const result = await there.ok(name, args);
      const { contract } = tools.find((tool) => tool.contract.name === name)!;
      const fits = ajv.compile(contract.responseSchema);
      expect([name, fits(result), fits.errors]).toEqual([name, true, null]);
    }
  });

  describe('workspace_read_file', () => {
    const readFile = (args: object) => scene.ok<Record<string, unknown>>('workspace_read_file', args);

    it('gives the text with what a patch needs to know', async () => {
      await scene.raw('PUT', '/contents/repo/crlf.txt', {}, '\ufeffone\r\ntwo\rstill two\nthree');
      const result = await readFile({ docPath: 'repo/crlf.txt' });
      expect(result).toEqual({
        ...{ success: true, docPath: 'repo/crlf.txt', path: '/repo/crlf.txt', errorCode: null, message: '' },
        sha256: sha256('\ufeffone\r\ntwo\rstill two\nthree'),
        ...{ sizeBytes: 27, lineCount: 3, startLine: 1, endLine: 3, isTruncated: false },
        content: 'one\r\ntwo\rstill two\nthree',
      });
    });

    it('numbers the lines when asked to', async () => {
      await scene.write('/repo/n.txt', 'a\n\nb');
      expect((await readFile({ docPath: 'repo/n.txt', numbered: true })).content).toBe('1\ta\n2\t\n3\tb');
      await scene.write('/repo/lines.txt', '\n'.repeat(10));
      // Each takes three bytes: its number, a tab, its ending.
      const first = await readFile({ docPath: 'repo/lines.txt', numbered: true, maxBytes: 9 });
      expect(first).toMatchObject({ content: '1\t\n2\t\n3\t\n', endLine: 3, isTruncated: true });
      await scene.write('/repo/empty.txt', '');
      expect(await readFile({ docPath: 'repo/empty.txt' })).toMatchObject({ content: '', lineCount: 0 });
    });

    it('stops at the end of a line, and goes on from there', async () => {
      await scene.write('/repo/long.txt', 'äää\nbb\ncc\n');
      const first = await readFile({ docPath: 'repo/long.txt', maxBytes: 10 });
      expect(first).toMatchObject({ content: 'äää\nbb\n', lineCount: 3, endLine: 2, isTruncated: true });
      const rest = await readFile({ docPath: 'repo/long.txt', maxBytes: 10, startLine: 3, numbered: true });
      expect(rest).toMatchObject({ content: '3\tcc\n', startLine: 3, endLine: 3, isTruncated: false });
      const none = await readFile({ docPath: 'repo/long.txt', maxBytes: 3 });
      expect(none).toMatchObject({ content: '', endLine: 0, isTruncated: true });
      expect(none.message).toContain('7 bytes');
      const beyond = await scene.call('workspace_read_file', { docPath: 'repo/long.txt', startLine: 4 });
      expect(beyond).toMatchObject({
        status: 400,
        body: { fields: { startLine: expect.anything() as string } },
      });
    });

    it('refuses what is no text, no file, or not there', async () => {
      await scene.raw('PUT', '/contents/repo/bin', {}, Buffer.from([0, 1]));
      for (const [docPath, status] of [
        ['repo/bin', 400],
        ['repo', 400],
        ['repo/none', 404],
        ['../x', 400],
      ] as const) {
        const answer = await scene.call('workspace_read_file', { docPath });
        expect([docPath, answer.status]).toEqual([docPath, status]);
        if (status === 400) expect(answer.body.fields).toHaveProperty('docPath');
      }
    });
  });

  it('workspace_list_files lists by prefix, page by page', async () => {
    const there = await scene.elsewhere();
    for (const path of ['/a/1', '/a/2', '/a/3', '/b']) await there.write(path);
    type Page = { files: { docPath: string }[]; nextCursor: string | null };
    const first = await there.ok<Page>('workspace_list_files', { prefix: 'A/', limit: 2 });
    expect(first.files.map(({ docPath }) => docPath)).toEqual(['a/1', 'a/2']);
    const rest = await there.ok<Page>('workspace_list_files', {
      prefix: 'A/',
      limit: 2,
      cursor: first.nextCursor,
    });
    expect(rest).toMatchObject({ files: [{ docPath: 'a/3' }], nextCursor: null });
    expect((await there.call('workspace_list_files', { cursor: 'nonsense' })).status).toBe(400);
  });

  it('workspace_list_files says which argument it cannot take', async () => {
    const cursor = Buffer.from(JSON.stringify(['\0', randomUUID()])).toString('base64url');
    for (const [name, args] of [
      ['prefix', { prefix: '\ud800' }],
      ['prefix', { prefix: 'a\0' }],
      ['cursor', { cursor }],
    ] as const) {
      const { status, body } = await scene.call('workspace_list_files', args);
      expect([status, Object.keys(body.fields!)]).toEqual([400, [name]]);
    }
  });

  it('code_hash_normalized hashes a text or a file without BOM and with \\n alone', async () => {
    const text = '\ufeffa\r\nb\rc\n';
    const expected = { hash: contentHash(text), sizeBytes: 6 };
    expect(await scene.ok('code_hash_normalized', { content: text })).toEqual(expected);
    await scene.raw('PUT', '/contents/repo/hash.txt', {}, text);
    expect(await scene.ok('code_hash_normalized', { docPath: 'repo/hash.txt' })).toEqual(expected);
    for (const args of [{}, { content: 'x', docPath: 'y' }, { content: '\ud800' }, { docPath: 'none' }]) {
      expect([400, 404]).toContain((await scene.call('code_hash_normalized', args)).status);
    }
  });

  describe('edit', () => {
    const edit = (args: object) => scene.call('edit', { path: '/edit.txt', ...args });

    it('replaces an exact, unique string and leaves every other byte', async () => {
      await scene.raw('PUT', '/contents/edit.txt', {}, '\ufeffa\r\nb $& c\r\n');
      const { body } = await edit({ oldString: 'b $& c', newString: '$1 $$' });
      expect(body.result).toMatchObject({ path: '/edit.txt', replacements: 1 });
      expect((await scene.raw('GET', '/contents/edit.txt')).body.toString()).toBe('\ufeffa\r\n$1 $$\r\n');
      expect(body.result.sha256).toBe(sha256('\ufeffa\r\n$1 $$\r\n'));
    });

    it('refuses a string that is not there, or more than once', async () => {
      await scene.write('/edit.txt', 'aaa b\r\n b');
      for (const oldString of ['none', 'aa', 'b', '']) {
        const answer = await edit({ oldString, newString: 'x' });
        expect(answer.status).toBe(400);
        expect(answer.body.fields).toHaveProperty('oldString');
      }
      expect((await edit({ oldString: 'b\n', newString: 'x' })).body.fields!.oldString).toContain('\\r\\n');
      expect(
        (await edit({ oldString: 'b', newString: 'c', replaceAll: true })).body.result.replacements,
      ).toBe(2);
      expect(await scene.read('/edit.txt')).toBe('aaa c\r\n c');
      for (const newString of ['aaa', '\ud800']) {
        expect((await edit({ oldString: 'aaa', newString })).body.fields).toHaveProperty('newString');
      }
      expect((await edit({ oldString: 'c', newString: 'x' })).body.fields!.oldString).toContain('2 times');
    });

    it('never cuts a character in half', async () => {
      await scene.write('/edit.txt', '😀x');
      const answer = await edit({ oldString: '\ud83d', newString: '' });
      expect(answer).toMatchObject({
        status: 400,
        body: { fields: { oldString: expect.anything() as string } },
      });
      expect(await scene.read('/edit.txt')).toBe('😀x');
    });

    it('refuses what would be too large before it makes it', async () => {
      await scene.write('/edit.txt', 'a'.repeat(1_000_000));
      const answer = await edit({ oldString: 'a', newString: 'b'.repeat(1_000), replaceAll: true });
      expect(answer).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
      expect(answer.body.error).toContain('1000000000 bytes');
    });

    it('keeps the shape in which the file was written, for as long as it is one', async () => {
      await scene.write('/edit.txt', { a: 1, b: [1, 2] });
      await edit({ oldString: '"a":1', newString: '"a":2' });
      expect(await scene.read('/edit.txt')).toEqual({ a: 2, b: [1, 2] });
      await edit({ oldString: '2]', newString: '9007199254740993]' });
      expect(await scene.read('/edit.txt')).toEqual({ text: '{"a":2,"b":[1,9007199254740993]}' });
    });

    it('takes the path of a file for a file only', async () => {
      await scene.write('/edit.txt', 'one');
      for (const path of ['/edit.txt/', '/']) {
        expect(await edit({ path, oldString: 'one', newString: 'two' })).toMatchObject({
          status: 400,
          body: { fields: { path: expect.anything() as string } },
        });
      }
    });

    it('happens only on the version that was read', async () => {
      await scene.write('/edit.txt', 'one');
      const old = sha256('one');
      expect((await edit({ oldString: 'one', newString: 'two', sha256: old.toUpperCase() })).status).toBe(
        200,
      );
      const stale = await edit({ oldString: 'two', newString: 'three', sha256: old });
      expect(stale).toMatchObject({ status: 412, body: { code: 'STALE' } });
      expect(await scene.read('/edit.txt')).toBe('two');
      expect((await scene.call('edit', { path: '/none', oldString: 'a', newString: 'b' })).status).toBe(404);
    });

    it('loses none of the edits that come at once', async () => {
      const letters = [...'abcdefghijklmnop'];
      await scene.write('/edit.txt', letters.join(' '));
      await Promise.all(
        letters.map((letter) => edit({ oldString: letter, newString: letter.toUpperCase() })),
      );
      expect(await scene.read('/edit.txt')).toBe(letters.join(' ').toUpperCase());
    });
  });

  describe('mv', () => {
    it('moves a file with its versions, and makes the folders', async () => {
      const { file_id } = await scene.write('/mv/from.md', 'x');
      const moved = await scene.ok('mv', { from: '/MV/from.md', to: 'mv/New Folder/To.md' });
      expect(moved).toEqual({ from: '/mv/from.md', path: '/mv/New Folder/To.md', fileId: file_id });
      expect((await scene.call('read', { path: '/mv/from.md' })).status).toBe(404);
      expect((await scene.write('/mv/new folder/to.md', 'y')).file_id).toBe(file_id);
      expect((await scene.trail('&event=File.Moved'))[0]!.fields).toMatchObject({
        ...{ path: '/mv/New Folder/To.md', fromPath: '/mv/from.md', fileId: file_id, toolName: 'mv' },
      });
    });

    it('to where the file is already changes nothing', async () => {
      await scene.write('/mv/stays.md', 'x');
      expect(await scene.ok('mv', { from: '/mv/stays.md', to: 'mv/stays.md' })).toMatchObject({
        path: '/mv/stays.md',
      });
      const moves = await scene.trail('&event=File.Moved');
      expect(moves.filter(({ fields }) => fields.path === '/mv/stays.md')).toEqual([]);
      const { body } = await scene.call('mv', { from: '..', to: '//' });
      expect(Object.keys(body.fields!).sort()).toEqual(['from', 'to']);
      expect((await scene.call('mv', { from: '/', to: '/mv/root' })).body.fields).toHaveProperty('from');
    });

    it('can change the case alone', async () => {
      await scene.write('/mv/case.md');
      expect(await scene.ok('mv', { from: '/mv/case.md', to: '/mv/Case.MD' })).toMatchObject({
        path: '/mv/Case.MD',
      });
      expect(await scene.list('/mv')).toContain('/mv/Case.MD');
    });

    it('never replaces, and moves files only', async () => {
      await scene.write('/mv/a');
      await scene.write('/mv/b');
      const move = async (from: string, to: string) => (await scene.call('mv', { from, to })).status;
      expect(await move('/mv/a', '/mv/b')).toBe(409);
      expect(await move('/mv/a', '/mv')).toBe(409);
      expect(await move('/mv/a', '/mv/b/c')).toBe(409);
      expect(await move('/mv/a', '/mv/a/c')).toBe(409);
      expect(await move('/mv', '/other')).toBe(400);
      expect(await move('/mv/a', '/other/')).toBe(400);
      expect(await move('/none', '/other')).toBe(404);
    });
  });

  it('mkdir makes a folder once, with those above it', async () => {
    const made = await scene.ok('mkdir', { path: '/Made/Deep/' });
    expect(made).toMatchObject({ path: '/Made/Deep', created: true });
    expect(await scene.ok('mkdir', { path: '/made/deep' })).toEqual({ ...made, created: false });
    expect(await scene.list('/made')).toEqual(['/Made/Deep']);
    await scene.write('/a-file');
    expect((await scene.call('mkdir', { path: '/a-file' })).status).toBe(409);
    expect((await scene.call('mkdir', { path: '/a-file/below' })).status).toBe(409);
    expect((await scene.call('mkdir', { path: '/' })).status).toBe(400);
  });

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
    let there: ToolsScene;
    beforeAll(async () => {
      there = await scene.elsewhere();
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

    it('refuses what is no pattern', async () => {
      for (const pattern of ['{a', '[a', '{{{{{{a}}}}}}', '[z-a]', 'x'.repeat(501)]) {
        const answer = await there.call('glob', { pattern });
        expect([pattern.slice(0, 9), answer.status]).toEqual([pattern.slice(0, 9), 400]);
        expect(answer.body.fields).toHaveProperty('pattern');
      }
    });

    it('knows paths by their docPath, and no name with a slash in it', async () => {
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
      const began = Date.now();
      for (const pattern of [
        `${'*a'.repeat(200)}b`,
        `${'**/'.repeat(100)}b`,
        `{${'a,'.repeat(200)}a}`.repeat(1),
      ]) {
        expect((await there.call('glob', { pattern })).status).toBeLessThan(500);
      }
      expect(Date.now() - began).toBeLessThan(10_000);
    });
  });

  describe('grep', () => {
    let there: ToolsScene;
    beforeAll(async () => {
      there = await scene.elsewhere();
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

    it('finds what is far back in a long line, and shows what is around it', async () => {
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

    it('names every fault at once, and takes a file for a file only', async () => {
      const { body } = await there.call('grep', { pattern: '(', glob: '[', path: '..' });
      expect(Object.keys(body.fields!).sort()).toEqual(['glob', 'path', 'pattern']);
      expect((await there.call('grep', { pattern: 'a', path: '/src/a.ts/' })).body.fields).toHaveProperty(
        'path',
      );
    });

    it('refuses what is no expression, too complex, or nowhere', async () => {
      for (const pattern of ['(', 'a(?=b)', '(a)\\1', '((a{0,30}){0,30}){0,30}', 'a{1001}']) {
        const answer = await there.call('grep', { pattern });
        expect([pattern, answer.status]).toEqual([pattern, 400]);
        expect(answer.body.fields).toHaveProperty('pattern');
      }
      expect((await there.call('grep', { pattern: 'a', path: '/none' })).status).toBe(404);
      expect((await there.call('grep', { pattern: 'a', glob: '[' })).body.fields).toHaveProperty('glob');
    });

    it('takes bounded time, whatever the pattern, and others run meanwhile', async () => {
      const noise = (length: number) =>
        Array.from({ length }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
      const text = noise(20_000);
      await there.write('/slow/one-line', text);
      await there.write('/slow/many-lines', Array.from({ length: 4000 }, () => noise(1000)).join('\n'));
      const began = Date.now();
      const slow = there.ok<Found>('grep', { pattern: '(a[ab]{400}[cd]|b[ab]{400}[ce])$', path: '/slow' });
      await new Promise((resolve) => setTimeout(resolve, 300));
      const asked = Date.now();
      await there.list('/');
      expect(Date.now() - asked).toBeLessThan(1_000);
      expect((await slow).isTruncated).toBe(true);
      expect(Date.now() - began).toBeLessThan(15_000);
      expect(await grepped({ pattern: '(a+)+$', path: '/src' })).toEqual([]);
    });

    it('takes bounded time with a slow glob, though no path fits it', async () => {
      const crowd = await scene.elsewhere();
      const noise = () => Array.from({ length: 240 }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
      await crowd.raw('POST', '/blobs', {}, packBlobs([Buffer.from('x')]));
      const files = Array.from({ length: 1_000 }, () => ({
        path: `d/${noise()}/${noise()}`,
        ...{ sha256: sha256('x'), baseSha256: null },
      }));
      await crowd.user.post(`${crowd.base}/files/commit`, { files });
      const began = Date.now();
      const slow = crowd.ok<Found>('grep', { pattern: 'zzz', glob: `**/*a${'?'.repeat(200)}c` });
      await new Promise((resolve) => setTimeout(resolve, 300));
      const asked = Date.now();
      await there.list('/');
      expect(Date.now() - asked).toBeLessThan(1_500);
      await slow;
      expect(Date.now() - began).toBeLessThan(15_000);
    });
  });
});
