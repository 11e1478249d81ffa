import {
  type ActiveFile,
  type PatchBatch,
  type Session,
  type SessionContext,
  type WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { PatchbayClient } from '@patchbay/client';
import { FakeClient } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import type { Answer, TestUser } from '../support/server.js';
import { ToolsFixture } from '../support/tools-fixture.js';

const TEXT = 'one\ntwo\n';

function activeFile(docPath: string): ActiveFile {
  return { docPath, displayPath: docPath, sha256: sha256(docPath), sizeBytes: 5, isDirty: true };
}

/** What a client answers that has applied every change of a batch. */
function appliedResult({ batchId, batchKey, batchLabel, files }: PatchBatch): WritePatchResult {
  return {
    ...{ success: true, batchId: batchId!, batchKey, batchLabel },
    files: files.map(({ filePatchId, fileKey, docPath, originalSha256, changes }) => ({
      ...{ filePatchId: filePatchId!, fileKey, docPath, status: 'applied', originalSha256 },
      ...{ newSha256: sha256('ONE\ntwo\n'), versionId: null, errorCode: null, message: null },
      changes: changes.map(({ changeId, changeKey, operation, description }) => ({
        ...{ changeId: changeId!, changeKey, operation, description },
        ...{ status: 'applied', errorCode: null, message: null },
      })),
    })),
  };
}

describe('The context of a session', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());
  let session: string;

  let there: ToolsFixture;
  beforeEach(async () => {
    there = await fixture.elsewhere();
    session = await newSession();
  });

  async function newSession(): Promise<string> {
    return (await there.user.post<Session>(`${there.base}/sessions`, {})).body.sessionId;
  }

  const path = (query = '', sessionId = session): string =>
    `${there.base}/sessions/${sessionId}/context${query}`;
  const markdown = async (query = ''): Promise<string> => {
    const { status, body } = await there.user.get<string>(path(query));
    expect(status).toBe(200);
    return body;
  };
  const json = async (query = ''): Promise<SessionContext> =>
    (await there.user.get<SessionContext>(path(`?format=json${query}`))).body;
  const open = (files: ActiveFile[], user: TestUser = there.user): Promise<Answer> =>
    user.request('PUT', `${there.base}/sessions/${session}/active-files`, { activeFiles: files });
  const referenced = async (): Promise<string[]> =>
    (await json()).referencedFiles.map(({ path: name }) => name);

  /** Calls tools in the session, as a turn. */
  async function turn(...calls: [name: string, args: object][]): Promise<void> {
    const toolCalls = calls.map(([name, args], at) => ({ toolCallId: `c${at}`, name, arguments: args }));
    const answer = await there.user.post(`${there.base}/sessions/${session}/turns`, { toolCalls });
    expect(answer.status).toBe(200);
  }
  const write = (name: string): [string, object] => ['write', { path: name, content: { text: TEXT } }];

  it('has the guidance of every tool, the Cloud files, the Active Files and the files of the session [CONTEXT-1]', async () => {
    await turn(write('/Repo/src/A.ts'), write('/Repo/node_modules/x/y.js'), [
      'read',
      { path: '/repo/src/a.ts' },
    ]);
    await open([activeFile('repo/src/b.ts')]);
    const context = await json();
    const { body } = await there.user.get<{ tools: { name: string; guidance: string }[] }>(
      `${there.base}/tools`,
    );
    expect(context.tools).toEqual(body.tools.map(({ name, guidance }) => ({ name, guidance })));
    expect(context.directory).toEqual({
      entries: [
        { path: '/', kind: 'folder' },
        { path: '/Repo', kind: 'folder' },
        { path: '/Repo/src', kind: 'folder' },
        { path: '/Repo/src/A.ts', kind: 'file' },
      ],
      truncated: false,
      excluded: { count: 1, names: ['node_modules'] },
    });
    expect(context.activeFiles).toEqual([activeFile('repo/src/b.ts')]);
    expect(context.referencedFiles).toEqual([
      { path: '/Repo/src/A.ts', docPath: 'repo/src/a.ts' },
      { path: '/Repo/node_modules/x/y.js', docPath: 'repo/node_modules/x/y.js' },
    ]);
    expect(context).toMatchObject({ truncated: false, leftOut: { tools: 0 } });
  });

  it('is Markdown by default and JSON on request', async () => {
    await turn(write('/Repo/a.ts'));
    const plain = await there.user.get<string>(path());
    expect(plain.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await markdown('?format=markdown')).toBe(plain.body);
    for (const part of [
      '# workspace_create_file',
      '# Cloud files',
      '- `Repo/`\n  - `a.ts`',
      '# Active Files',
    ])
      expect(plain.body).toContain(part);
    const asJson = await there.user.get(path('?format=json'));
    expect(asJson.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('stays the same to the byte until something changes, and then keeps the text before the change [CONTEXT-2]', async () => {
    await turn(write('/a.ts'), write('/b.ts'));
    const [first, second] = [await markdown(), await markdown()];
    expect(second).toBe(first);
    await open([activeFile('b.ts'), activeFile('a.ts')]);
    const opened = await markdown();
    const prefix = first.slice(0, first.indexOf('No file is open.'));
    expect(opened.startsWith(prefix)).toBe(true);
    await open([activeFile('a.ts'), activeFile('b.ts')]);
    expect(await markdown()).toBe(opened);
    await turn(['read', { path: '/a.ts' }]);
    expect(await markdown()).toBe(opened);
    await turn(['workspace_read_file', { docPath: 'b.ts' }], write('/c.ts'));
    expect((await markdown()).endsWith('- `/a.ts`\n- `/b.ts`\n- `/c.ts`\n\n')).toBe(true);
  });

  it('has an ETag and answers 304 when it matches [CONTEXT-2]', async () => {
    const { headers, body } = await there.user.get<string>(path());
    expect(headers.get('etag')).toBe(`"${sha256(body)}"`);
    const at = `/sessions/${session}/context`;
    const again = await there.raw('GET', at, { 'if-none-match': headers.get('etag')! });
    expect([again.status, again.body.length, again.headers.get('etag')]).toEqual([
      304,
      0,
      headers.get('etag'),
    ]);
    expect((await there.raw('GET', at, { 'if-none-match': '"other"' })).status).toBe(200);
    await there.write('/new.ts');
    expect((await there.raw('GET', at, { 'if-none-match': headers.get('etag')! })).status).toBe(200);
  });

  it('is the same through the SDK', async () => {
    await turn(write('/Repo/ä.ts'));
    const { server, user, workspaceId } = there;
    const workspace = new PatchbayClient({ url: server.url, token: user.token }).workspace(workspaceId);
    expect(await workspace.context(session)).toBe(await markdown());
    expect(await workspace.context(session, { format: 'json' })).toEqual(await json());
  });

  describe('names as files of the session', () => {
    it('files of calls that succeeded, without folders and deleted files', async () => {
      await turn(
        ...[write('/kept.ts'), write('/gone.ts'), write('/folder/in.ts')],
        ...([
          ['read', { path: '/no-such.ts' }],
          ['ls', { path: '/folder' }],
          ['rm', { path: '/gone.ts' }],
        ] as [string, object][]),
      );
      expect(await referenced()).toEqual(['/kept.ts', '/folder/in.ts']);
    });

    it('the new path of a moved file', async () => {
      await turn(write('/old.ts'), ['mv', { from: '/old.ts', to: '/new.ts' }]);
      expect(await referenced()).toEqual(['/new.ts']);
    });

    it('files of direct calls that name the session, and of no other calls', async () => {
      await there.call('write', { path: '/with.ts', content: '' }, { sessionId: session });
      await there.write('/without.ts');
      expect(await referenced()).toEqual(['/with.ts']);
    });

    it('files that a client has created or patched', async () => {
      await there.write('/Repo/a.txt', { text: TEXT });
      const { server, user, workspaceId } = there;
      const tools = ['workspace_create_file', 'workspace_write_patch'];
      const client = await FakeClient.ready({ url: server.url, token: user.token, workspaceId, tools });
      const replace = { startLine: 1, endLine: 1, expectedOriginalLines: ['one'], newLines: ['ONE'] };
      const file = { docPath: 'repo/a.txt', originalSha256: sha256(TEXT) };
      const patch = { files: [{ ...file, changes: [{ operation: 'replace', ...replace }] }] };
      const ended = turn(
        ['workspace_create_file', { path: 'src/new.ts', content: '' }],
        ['workspace_write_patch', patch],
      );
      await client.delivery(2);
      for (const call of client.calls) {
        const result = call.batch && appliedResult(call.batch);
        expect(await client.report(call, { ...(result && { result }) })).toEqual({ ok: true });
      }
      await ended;
      client.close();
      expect((await json()).referencedFiles).toEqual([
        { path: 'src/new.ts', docPath: null },
        { path: '/Repo/a.txt', docPath: 'repo/a.txt' },
      ]);
    });
  });

  it('truncates a large folder and says that there is more [CONTEXT-3]', async () => {
    const names = Array.from({ length: 130 }, (_, n) => `/big/${String(n).padStart(3, '0')}.ts`);
    for (const name of names) await there.write(name);
    await there.write('/small/a.ts');
    const { directory, truncated } = await json();
    expect(directory.entries[1]).toEqual({ path: '/big', kind: 'folder', more: 30 });
    expect(directory.entries.slice(2, 102).map((entry) => entry.path)).toEqual(names.slice(0, 100));
    expect([directory.truncated, truncated]).toEqual([true, true]);
    const text = await markdown();
    expect(text).toContain('  - `099.ts`\n  - … at least 30 more\n- `small/`\n');
    expect(text).toContain('This tree is cut to 103 entries.');
  });

  it('keeps to the requested size in either format and says what is cut [CONTEXT-3]', async () => {
    for (const format of ['markdown', 'json']) {
      const { body } = await there.raw('GET', `/sessions/${session}/context?format=${format}&maxBytes=8192`);
      expect(body.length).toBeLessThanOrEqual(8192);
      expect(body.toString()).toMatch(/The guidance of \d+ more tools|"truncated":true\}$/);
    }
  });

  it('rejects an unknown format and a size beyond the limits', async () => {
    for (const query of ['?format=xml', '?maxBytes=65537', '?maxBytes=8191', '?maxBytes=many', '?more=1']) {
      const answer = await there.user.get(path(query));
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
      const field = query.slice(1, query.indexOf('='));
      expect(answer.body).toHaveProperty(['fields', field]);
    }
  });

  it('contains nothing of other sessions, users and workspaces', async () => {
    await turn(write('/mine.ts'));
    await open([activeFile('mine.ts')]);
    const other = (await there.user.get<SessionContext>(path('?format=json', await newSession()))).body;
    expect(other.activeFiles).toEqual([]);
    expect(other.referencedFiles).toEqual([]);
    expect(other.directory.entries.map((entry) => entry.path)).toEqual(['/', '/mine.ts']);

    const member = await fixture.server.register();
    await there.user.addMember(there.workspaceId, member);
    expect((await member.get(path())).status).toBe(403);
    const stranger = await fixture.server.register();
    expect((await stranger.get(path())).status).toBe(403);

    const elsewhere = await fixture.elsewhere();
    expect((await elsewhere.user.get(`${elsewhere.base}/sessions/${session}/context`)).status).toBe(404);
    expect((await there.user.get(path('', 'no-uuid'))).status).toBe(400);
  });
});
