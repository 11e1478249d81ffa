import { randomUUID } from 'node:crypto';
import { Ajv } from 'ajv';
import { contentHash, sha256 } from '@patchbay/protocol/hash';
import { ToolRunner } from '../../../src/tools/tool-runner.js';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('the server tools', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());

  it('are in the catalog, each with guidance and schemas that compile', async () => {
    const { body } = await fixture.user.get<{
      tools: { name: string; executionLocation: string; guidance: string }[];
    }>(`${fixture.base}/tools`);
    const names = body.tools.filter((tool) => tool.executionLocation === 'server').map(({ name }) => name);
    const { tools } = fixture.server.app.get(ToolRunner);
    expect(names).toEqual(tools.map(({ contract }) => contract.name));
    expect(names).toEqual(
      expect.arrayContaining(['ls', 'read', 'write', 'rm', 'workspace_read_file', 'grep']),
    );
    for (const { name, guidance } of body.tools) expect(guidance).toContain(`# ${name}`);
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    for (const { contract } of tools) {
      ajv.compile(contract.requestSchema);
      ajv.compile(contract.responseSchema);
    }
  });

  it('return results that match their response schemas', async () => {
    const there = await fixture.elsewhere();
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
    const { tools } = fixture.server.app.get(ToolRunner);
    for (const [name, args] of calls) {
      const result = await there.ok(name, args);
      const { contract } = tools.find((tool) => tool.contract.name === name)!;
      const fits = ajv.compile(contract.responseSchema);
      expect([name, fits(result), fits.errors]).toEqual([name, true, null]);
    }
  });

  describe('workspace_read_file', () => {
    const readFile = (args: object) => fixture.ok<Record<string, unknown>>('workspace_read_file', args);

    it('returns the text with what a patch needs to know', async () => {
      await fixture.raw('PUT', '/contents/repo/crlf.txt', {}, '\ufeffone\r\ntwo\rstill two\nthree');
      const result = await readFile({ docPath: 'repo/crlf.txt' });
      expect(result).toEqual({
        ...{ success: true, docPath: 'repo/crlf.txt', path: '/repo/crlf.txt', errorCode: null, message: '' },
        source: 'cloud',
        sha256: sha256('\ufeffone\r\ntwo\rstill two\nthree'),
        ...{ sizeBytes: 27, lineCount: 3, startLine: 1, endLine: 3, isTruncated: false },
        content: 'one\r\ntwo\rstill two\nthree',
      });
    });

    it('numbers the lines on request', async () => {
      await fixture.write('/repo/n.txt', 'a\n\nb');
      expect((await readFile({ docPath: 'repo/n.txt', numbered: true })).content).toBe('1\ta\n2\t\n3\tb');
      await fixture.write('/repo/lines.txt', '\n'.repeat(10));
      // Each takes three bytes: its number, a tab, its ending.
      const first = await readFile({ docPath: 'repo/lines.txt', numbered: true, maxBytes: 9 });
      expect(first).toMatchObject({ content: '1\t\n2\t\n3\t\n', endLine: 3, isTruncated: true });
      await fixture.write('/repo/empty.txt', '');
      expect(await readFile({ docPath: 'repo/empty.txt' })).toMatchObject({ content: '', lineCount: 0 });
    });

    it('stops at the end of a line and continues from there', async () => {
      await fixture.write('/repo/long.txt', 'äää\nbb\ncc\n');
      const first = await readFile({ docPath: 'repo/long.txt', maxBytes: 10 });
      expect(first).toMatchObject({ content: 'äää\nbb\n', lineCount: 3, endLine: 2, isTruncated: true });
      const rest = await readFile({ docPath: 'repo/long.txt', maxBytes: 10, startLine: 3, numbered: true });
      expect(rest).toMatchObject({ content: '3\tcc\n', startLine: 3, endLine: 3, isTruncated: false });
      const none = await readFile({ docPath: 'repo/long.txt', maxBytes: 3 });
      expect(none).toMatchObject({ content: '', endLine: 0, isTruncated: true });
      expect(none.message).toContain('7 bytes');
      const beyond = await fixture.call('workspace_read_file', { docPath: 'repo/long.txt', startLine: 4 });
      expect(beyond).toMatchObject({
        status: 400,
        body: { fields: { startLine: expect.anything() as string } },
      });
    });

    it('rejects a file that is not text, a folder and a missing path', async () => {
      await fixture.raw('PUT', '/contents/repo/bin', {}, Buffer.from([0, 1]));
      for (const [docPath, status] of [
        ['repo/bin', 400],
        ['repo', 400],
        ['repo/none', 404],
        ['../x', 400],
      ] as const) {
        const answer = await fixture.call('workspace_read_file', { docPath });
        expect([docPath, answer.status]).toEqual([docPath, status]);
        if (status === 400) expect(answer.body.fields).toHaveProperty('docPath');
      }
    });
  });

  it('workspace_list_files lists by prefix, page by page', async () => {
    const there = await fixture.elsewhere();
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

  it('workspace_list_files names the invalid argument', async () => {
    const cursor = Buffer.from(JSON.stringify(['\0', randomUUID()])).toString('base64url');
    for (const [name, args] of [
      ['prefix', { prefix: '\ud800' }],
      ['prefix', { prefix: 'a\0' }],
      ['cursor', { cursor }],
    ] as const) {
      const { status, body } = await fixture.call('workspace_list_files', args);
      expect([status, Object.keys(body.fields!)]).toEqual([400, [name]]);
    }
  });

  it('code_hash_normalized hashes a text or a file without BOM and with \\n alone', async () => {
    const text = '\ufeffa\r\nb\rc\n';
    const expected = { hash: contentHash(text), sizeBytes: 6 };
    expect(await fixture.ok('code_hash_normalized', { content: text })).toEqual(expected);
    await fixture.raw('PUT', '/contents/repo/hash.txt', {}, text);
    expect(await fixture.ok('code_hash_normalized', { docPath: 'repo/hash.txt' })).toEqual(expected);
    for (const args of [{}, { content: 'x', docPath: 'y' }, { content: '\ud800' }, { docPath: 'none' }]) {
      expect([400, 404]).toContain((await fixture.call('code_hash_normalized', args)).status);
    }
  });
});
