import type { SessionContext } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { givenFile } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { activeFile, TextsFixture } from '../support/texts-fixture.js';

describe('the text of Active Files', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());
  let setup: TextsFixture;
  beforeEach(async () => {
    setup = new TextsFixture(await RelayFixture.on(server, user));
  });
  afterEach(() => setup.fixture.close());

  const context = async <T>(query: string): Promise<T> => {
    const path = `/workspaces/${setup.fixture.workspaceId}/sessions/${setup.session}/context${query}`;
    const { status, body } = await user.get<T>(path);
    expect(status).toBe(200);
    return body;
  };
  const json = () => context<SessionContext>('?format=json&include=active');

  it('the context includes the text as the editor has it now, when asked to [CONTEXT-8]', async () => {
    await setup.open(activeFile('proj/b.ts', 'b\n'), activeFile('proj/a.ts', 'old\n'));
    const client = await setup.client('editor');
    const texts: Record<string, string> = { 'proj/a.ts': 'new\n', 'proj/b.ts': 'b\n' };
    client.giveFile = ({ docPath }) => givenFile(texts[docPath]!, { isDirty: true });
    const { activeFiles } = await json();
    expect(activeFiles.map(({ docPath, sha256: sha, text }) => [docPath, sha, text])).toEqual([
      ['proj/a.ts', sha256('new\n'), 'new\n'],
      ['proj/b.ts', sha256('b\n'), 'b\n'],
    ]);
    const markdown = await context<string>('?include=active');
    expect(markdown).toContain('; its text:\n\n```\nnew\n```\n');
    expect(await context<string>('?include=active')).toBe(markdown);
  });

  it('the context asks no client for the text unless it is asked to include it', async () => {
    await setup.open(activeFile('proj/a.ts', 'a\n'));
    const client = await setup.client('editor');
    client.giveFile = () => givenFile('a\n');
    const { activeFiles } = await context<SessionContext>('?format=json');
    expect(activeFiles).toEqual([activeFile('proj/a.ts', 'a\n')]);
    expect(client.reads).toEqual([]);
    const path = `/workspaces/${setup.fixture.workspaceId}/sessions/${setup.session}/context?include=all`;
    expect((await user.get(path)).status).toBe(400);
  });

  it('the context omits the text with the reason where it is unavailable or too large [CONTEXT-8]', async () => {
    const large = 'x'.repeat(200_000);
    await setup.open(
      ...['away', 'binary', 'ignored'].map((name) => activeFile(`proj/${name}`, 'x')),
      activeFile('proj/large', large),
    );
    const missing = async () =>
      Object.fromEntries(
        (await json()).activeFiles.map(({ docPath, textMissing }) => [docPath, textMissing]),
      );
    expect((await missing())['proj/away']).toBe('its editor does not return it, no such client is connected');
    const client = await setup.client('editor');
    client.giveFile = ({ docPath }) => {
      if (docPath === 'proj/ignored') return { ok: false, error: { code: 'FORBIDDEN', message: 'no' } };
      return givenFile(docPath === 'proj/binary' ? 'a\0b' : 'x');
    };
    expect(await missing()).toEqual({
      'proj/binary': 'it is no UTF-8 text',
      'proj/ignored': 'its editor does not return it, it refuses (FORBIDDEN, "no")',
      'proj/large': 'it does not fit; read it with workspace_read_file',
    });
    expect(client.reads.map(({ docPath }) => docPath)).not.toContain('proj/large');
  });

  it('read warns that the editor has newer text [TOOL-3]', async () => {
    await setup.write('/Proj/a.ts', 'cloud\n');
    await setup.open(activeFile('proj/a.ts', 'open\n'));
    const { result } = await setup.call('read', { path: '/proj/A.ts' });
    expect(result).toMatchObject({ content: { text: 'cloud\n' } });
    expect(result.warnings).toEqual([expect.stringContaining(sha256('open\n'))]);
    const outside = await setup.call('read', { path: '/Proj/a.ts' }, null);
    expect(outside.result).toEqual({ path: '/Proj/a.ts', content: { text: 'cloud\n' } });
    await setup.open(activeFile('proj/a.ts', 'cloud\n'));
    const same = await setup.call('read', { path: '/Proj/a.ts' });
    expect(same.result).toEqual({ path: '/Proj/a.ts', content: { text: 'cloud\n' } });
  });
});
