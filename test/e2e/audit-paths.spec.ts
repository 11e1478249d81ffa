import type { AuditEvent, AuditPage, Json } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { createdResult } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const TEXT = 'one\n';

describe('paths in the audit trail', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  const trail = (query = ''): Promise<AuditEvent[]> => readTrail(user, fixture.workspaceId, query);
  const about = (path: string): Promise<AuditEvent[]> => trail(`&path=${encodeURIComponent(path)}`);
  const seqs = async (path: string): Promise<number[]> => (await about(path)).map(({ seq }) => seq);
  const tool = (name: string, args: object) =>
    user.post(`/workspaces/${fixture.workspaceId}/tools`, { tool: name, args });
  const pathsOf = ({ fields }: AuditEvent): string[] =>
    (Array.isArray(fields.paths) ? fields.paths : [fields.path ?? 'none']) as string[];
  const patchOf = (...docPaths: string[]) => ({
    toolCallId: 'patch',
    name: 'workspace_write_patch',
    arguments: {
      files: docPaths.map((docPath) => ({
        docPath,
        originalSha256: sha256(TEXT),
        changes: [
          {
            operation: 'replace',
            startLine: 1,
            endLine: 1,
            expectedOriginalLines: ['one'],
            newLines: ['two'],
          },
        ],
      })),
    },
  });
  /** Posts the batch, and has a client say that all of it was applied. */
  const applied = async (...docPaths: string[]): Promise<string> => {
    const client = await fixture.client({ tools: ['workspace_write_patch'] });
    await fixture.post([patchOf(...docPaths)]);
    const call = await client.delivery();
    const files = call.batch!.files.map(({ filePatchId, docPath, originalSha256, changes }) => ({
      ...{ filePatchId, docPath, status: 'applied', originalSha256, newSha256: sha256('two\n') },
      changes: changes.map(({ changeId, operation }) => ({ changeId, operation, status: 'applied' })),
    }));
    const result = { success: true, batchId: call.batch!.batchId, files } as unknown as Json;
    await client.report(call, { result });
    return call.batch!.batchId!;
  };

  it('events of tools and of files record a path in one form, whatever its spelling [AUDIT-7]', async () => {
    const client = await fixture.client();
    await fixture.post([createCall('create', './Docs/README.md'), createCall('denied', 'docs\\readme.md')]);
    await client.report(await client.delivery(1));
    const approval = { decision: 'deny', by: 'ada', at: '2025-06-01T12:00:00Z' };
    await client.report(await client.delivery(2), { result: null, approval });
    await tool('write', { path: '/docs/ReadMe.md', content: { text: TEXT } });
    await tool('read', { path: 'DOCS/README.MD' });
    await tool('read', { path: '/docs/../docs/readme.md' });
    await applied('docs/readme.md');
    await fixture.cancel((await fixture.post([createCall('gone', '/DOCS/readme.md')])).body.result.turnId);
    const events = await trail();
    const ofFile = events.filter(
      ({ name, fields }) => !/^(Client|Turn|Folder)\./.test(name) && fields.path !== 'docs/../docs/readme.md',
    );
    expect(new Set(ofFile.flatMap(pathsOf))).toEqual(new Set(['docs/readme.md']));
    expect(new Set(ofFile.map(({ name }) => name))).toEqual(
      new Set([
        ...['Accepted', 'Forwarded', 'Acknowledged', 'ResultReceived', 'Denied', 'Cancelled'].map(
          (step) => `Tool.CreateFile.${step}`,
        ),
        ...['Tool.Write', 'Tool.Read'].flatMap((tool) =>
          ['Accepted', 'Executing', 'ResultReceived'].map((step) => `${tool}.${step}`),
        ),
        'File.Created',
        ...['Accepted', 'Forwarded', 'Acknowledged', 'ResultReceived', 'NotUploaded'].map(
          (step) => `Tool.WritePatch.${step}`,
        ),
      ]),
    );
    const [created] = events.filter(({ name }) => name === 'File.Created');
    expect(created!.fields).toMatchObject({ path: 'docs/readme.md', displayPath: 'docs/ReadMe.md' });
    const expected = ofFile.map(({ seq }) => seq);
    for (const spelling of ['docs/readme.md', '/docs/README.md', 'Docs\\Readme.MD', './docs//readme.md'])
      expect([spelling, await seqs(spelling)]).toEqual([spelling, expected]);
    expect(await seqs('docs/readme')).toEqual([]);
    expect(await seqs('readme.md')).toEqual([]);
  });

  it('a query for a folder finds the paths below it, written with a slash or with /** [AUDIT-7]', async () => {
    for (const path of ['/Src/a.ts', '/src/deep/b.ts', '/srcs/c.ts', '/.hidden', '/src2'])
      await tool('write', { path, content: TEXT });
    await applied('src/patched.ts', 'elsewhere/d.ts');
    const events = await trail();
    const below = (folder: string): number[] =>
      events.filter((event) => pathsOf(event).some((path) => path.startsWith(folder))).map(({ seq }) => seq);
    for (const spelling of [
      'src/',
      '/SRC/',
      'src/**',
      '/Src/**',
      'src\\',
      'src/**/',
      '/SRC\\**\\',
      'src//**//',
    ])
      expect([spelling, await seqs(spelling)]).toEqual([spelling, below('src/')]);
    expect((await about('src/deep/**')).map(({ fields }) => fields.path)).toEqual(
      Array.from({ length: 4 }, () => 'src/deep/b.ts'),
    );
    const all = events.filter((event) => !pathsOf(event).includes('none')).map(({ seq }) => seq);
    for (const spelling of ['/', '/**', '**', '**/', '/**/', './'])
      expect([spelling, await seqs(spelling)]).toEqual([spelling, all]);
  });

  it('a query finds a move by either end, and a path that a person has edited [AUDIT-7]', async () => {
    await tool('write', { path: '/From.md', content: TEXT });
    await tool('mv', { from: 'from.md', to: 'Folder/To.md' });
    for (const path of ['FROM.md', 'folder/to.md'])
      expect((await about(path)).map(({ name }) => name)).toEqual(
        expect.arrayContaining(['File.Moved', 'Tool.Mv.ResultReceived']),
      );
    const client = await fixture.client();
    await fixture.post([createCall('edited', 'asked.ts')]);
    const call = await client.delivery();
    const editedArguments = { path: 'Made.ts', content: '' };
    const approval = { decision: 'edit', by: 'ada', at: '2025-06-01T12:00:00Z', editedArguments };
    await client.report(call, { result: createdResult({ arguments: editedArguments }), approval });
    expect((await about('made.ts')).map(({ name }) => name)).toEqual(['Tool.CreateFile.ResultReceived']);
    expect((await about('asked.ts')).map(({ name }) => name.split('.')[2])).toEqual([
      ...['Accepted', 'Forwarded', 'Acknowledged', 'ResultReceived'],
    ]);
  });

  it('a query by docPath finds a create that omits the only folder [AUDIT-7]', async () => {
    const root = { name: 'Proj', rootId: '0197a000-0000-7000-8000-000000000001', docPath: 'proj' };
    const client = await fixture.client({ roots: [root] });
    await fixture.post([createCall('c', 'src/A.ts')]);
    const call = await client.delivery();
    await client.report(call, { result: { ...createdResult(call), docPath: 'proj/src/a.ts' } });
    const ofCall = (await trail(`&callId=${call.callId}`)).map(({ seq }) => seq);
    expect(ofCall).toHaveLength(4);
    for (const path of ['proj/src/a.ts', '/Proj/src/A.ts', 'src/a.ts', 'proj/**'])
      expect([path, await seqs(path)]).toEqual([path, ofCall]);
  });

  it('a query finds Cloud files by a path without the name of their folder [AUDIT-7]', async () => {
    const root = { name: 'Proj', rootId: '0197a000-0000-7000-8000-000000000002', docPath: 'proj' };
    const client = await fixture.client({
      roots: [root],
      tools: ['workspace_create_file', 'workspace_write_patch'],
    });
    await fixture.post([createCall('c', 'src/A.ts', TEXT)]);
    const call = await client.delivery();
    const file = { path: '/Proj/src/A.ts', docPath: 'proj/src/a.ts', content: Buffer.from(TEXT) };
    const put = { ...file, sha256: sha256(TEXT), baseSha256: null };
    expect(await client.send('files:put', { ...put, callId: call.callId })).toMatchObject({ ok: true });
    await client.report(call, { result: { ...createdResult(call), docPath: 'proj/src/a.ts' } });
    await fixture.post([patchOf('proj/src/a.ts')]);
    const isAcknowledged = async () =>
      (await about('proj/src/a.ts')).some(({ name }) => name === 'Tool.WritePatch.Acknowledged');
    await waitFor(isAcknowledged, 'the last event of the patch');
    await tool('write', { path: '/other/src/a.ts', content: TEXT });
    await tool('write', { path: '/proj2/src/a.ts', content: TEXT });
    const ofFile = await seqs('proj/src/a.ts');
    const names = (await about('src/a.ts')).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['Tool.CreateFile.Accepted', 'File.Created', 'Tool.WritePatch.Accepted']),
    );
    for (const spelling of ['src/a.ts', '/SRC/A.ts', 'Src\\A.ts', '/Proj/src/A.ts'])
      expect([spelling, await seqs(spelling)]).toEqual([spelling, ofFile]);
    const below = (await seqs('proj/src/**')).sort();
    for (const spelling of ['src/', '/SRC/**', 'src/**/'])
      expect([spelling, (await seqs(spelling)).sort()]).toEqual([spelling, below]);
    expect(await seqs('a.ts')).toEqual([]);
  });

  it('a query finds all paths of a large batch, also those that its events do not name [AUDIT-7]', async () => {
    const docPaths = Array.from({ length: 250 }, (_, at) => `large/${at}/file.ts`);
    const batchId = await applied(...docPaths);
    const ofBatch = (await trail(`&batchId=${batchId}`)).filter(({ name }) => name.endsWith('.Forwarded'));
    expect(ofBatch[0]!.fields).toMatchObject({ files: 250, morePaths: 150, paths: docPaths.slice(0, 100) });
    for (const path of ['large/3/file.ts', 'LARGE/249/File.ts', 'large/249/', 'large/**'])
      expect(
        (await about(path)).filter(({ name }) => name.startsWith('Tool.WritePatch.')).length,
      ).toBeGreaterThan(3);
    expect(await about('large/250/file.ts')).toEqual([]);
    expect(await about('other/')).toEqual([]);
  });

  it('a query finds the paths of an invalid batch [AUDIT-7]', async () => {
    const { arguments: args } = patchOf('Not/Folded.ts');
    await fixture.post([{ ...patchOf(), arguments: args }]);
    expect((await about('not/folded.ts')).map(({ name }) => name)).toEqual(['Tool.WritePatch.Rejected']);
  });

  it('pages come newest first when asked for [AUDIT-4]', async () => {
    for (const path of ['/a', '/b', '/c']) await tool('write', { path, content: TEXT });
    const oldest = await trail();
    const collected: AuditEvent[] = [];
    let cursor = '';
    for (;;) {
      const url = `/workspaces/${fixture.workspaceId}/audit?order=desc&limit=2${cursor}`;
      const { body } = await user.get<AuditPage>(url);
      collected.push(...body.events);
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(collected).toEqual([...oldest].reverse());
    const base = `/workspaces/${fixture.workspaceId}/audit`;
    expect(await user.get(`${base}?order=asc${cursor}`)).toMatchObject({ status: 400 });
    expect(await user.get(`${base}?order=up`)).toMatchObject({ status: 400 });
    const filtered = await user.get<AuditPage>(`${base}?order=desc&path=/a&limit=1&event=File.Created`);
    expect(filtered.body.events).toMatchObject([{ fields: { path: 'a' } }]);
    expect(await trail(`&userId=${user.id.toUpperCase()}`)).toEqual(oldest);
    expect(await trail('&userId=0197a000-0000-7000-8000-000000000001')).toEqual([]);
  });
});
