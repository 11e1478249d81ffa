import { storesOf } from '../../contract/backends.js';
import { upTo } from '../../contract/records.js';
import { suiteFixture } from '../../support/fixtures.js';
import { isOfTurn } from '../../support/invariants.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('POST /tools', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());

  describe('write', () => {
    it('stores a file and answers as the specification shows', async () => {
      const { status, body } = await fixture.call('write', {
        path: '/documents/notes.md',
        content: { text: '# My Notes\n\nCreated via Tools API' },
      });
      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        result: {
          path: '/documents/notes.md',
          file_id: expect.stringMatching(UUID_V7) as string,
          version_id: expect.stringMatching(UUID_V7) as string,
        },
        error: null,
      });
    });

    it('gives an existing file a new version, also of equal content [FILE-2]', async () => {
      const first = await fixture.write('/versions.md');
      const second = await fixture.write('/versions.md');
      expect(second.file_id).toBe(first.file_id);
      expect(second.version_id).not.toBe(first.version_id);
    });

    it('creates missing folders and records them in the trail [FILE-2] [AUDIT-1]', async () => {
      await fixture.write('/made/for/it.md');
      expect(await fixture.list('/made', true)).toEqual(['/made/for', '/made/for/it.md']);
      const made = await fixture.trail('&event=Folder.Created&path=/made/for');
      expect(made).toHaveLength(1);
    });

    it('refuses to write onto a folder, onto the root, and below a file [FILE-3]', async () => {
      await fixture.write('/folder/file');
      for (const path of ['/folder', '/FOLDER', '/', 'folder/', '/new/']) {
        const answer = await fixture.call('write', { path, content: 'x' });
        expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
        expect(answer.body.fields).toHaveProperty('path');
      }
      const below = await fixture.call('write', { path: '/folder/file/below/it', content: 'x' });
      expect(below).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    });
  });

  describe('read', () => {
    it('answers as the specification shows', async () => {
      const content = { text: '# Annual Report\n\nThis is the content...' };
      await fixture.write('/documents/report.md', content);
      const { status, body } = await fixture.call('read', { path: '/documents/report.md' });
      expect(status).toBe(200);
      expect(body).toEqual({ success: true, result: { path: '/documents/report.md', content }, error: null });
    });

    it('always reads the newest version', async () => {
      await fixture.write('/newest', { text: 'old' });
      await fixture.write('/newest', { text: 'new' });
      expect(await fixture.read('/newest')).toEqual({ text: 'new' });
    });

    it('answers 404 at an unused path and 400 at a folder [FILE-3]', async () => {
      const missing = await fixture.call('read', { path: '/nonexistent/file.txt' });
      expect(missing.status).toBe(404);
      expect(missing.body).toEqual({ error: 'File not found: /nonexistent/file.txt', code: 'NOT_FOUND' });
      await fixture.write('/a-folder/file');
      for (const path of ['/a-folder', '/', '/a-folder/file/']) {
        const answer = await fixture.call('read', { path });
        expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
        expect(answer.body.fields).toHaveProperty('path');
      }
    });
  });

  describe('ls', () => {
    it('lists what is directly in a folder as the specification shows, sorted by path', async () => {
      const there = await fixture.elsewhere();
      await there.write('/documents/report.md');
      await there.write('/documents/archive/old.md');
      const { status, body } = await there.call('ls', { path: '/documents', recursive: false });
      expect(status).toBe(200);
      const updated_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
      const entries = [
        { name: 'archive', path: '/documents/archive', file_type: 'Folder', updated_at },
        { name: 'report.md', path: '/documents/report.md', file_type: 'Document', updated_at },
      ];
      expect(body).toEqual({ success: true, result: { path: '/documents', entries }, error: null });
    });

    it('lists the root without a path, and treats null like absent', async () => {
      const there = await fixture.elsewhere();
      await there.write('/b');
      await there.write('/a/c');
      for (const args of [{}, { path: null, recursive: null }, { path: '/' }]) {
        expect(await there.ok('ls', args)).toMatchObject({
          path: '/',
          entries: [{ path: '/a' }, { path: '/b' }],
        });
      }
    });

    it('lists everything below with recursive, sorted by code point of the path', async () => {
      const there = await fixture.elsewhere();
      const paths = ['/d/B', '/d/a', '/d/a-b', '/d/a/x', '/d/\uFF5E', '/d/\u{1F600}'];
      for (const path of ['/d/a-b', '/d/\u{1F600}', '/d/\uFF5E', '/d/a/x', '/d/B', '/e'])
        await there.write(path);
      expect(await there.list('d/', true)).toEqual(paths);
      expect(await there.list('/', true)).toEqual(['/d', ...paths, '/e']);
    });

    it('answers 404 where no folder is, and 400 on a file and below one', async () => {
      await fixture.write('/a-file');
      expect(await fixture.call('ls', { path: '/no-such' })).toMatchObject({
        status: 404,
        body: { code: 'NOT_FOUND' },
      });
      for (const path of ['/a-file', '/A-FILE/', '/a-file/below/it']) {
        const answer = await fixture.call('ls', { path });
        expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
        expect(answer.body.fields).toHaveProperty('path');
      }
    });
  });

  describe('rm', () => {
    it('deletes a file as the specification shows, and it is gone from everywhere', async () => {
      const { file_id } = await fixture.write('/bin/old-report.md');
      const { status, body } = await fixture.call('rm', { path: '/bin/old-report.md' });
      expect(status).toBe(200);
      expect(body).toEqual({ success: true, result: { path: '/bin/old-report.md', file_id }, error: null });
      expect((await fixture.call('read', { path: '/bin/old-report.md' })).status).toBe(404);
      expect((await fixture.call('rm', { path: '/bin/old-report.md' })).status).toBe(404);
      expect(await fixture.list('/bin')).toEqual([]);
    });

    it('deletes an empty folder; one with content is a 409, the root a 400 [FILE-3]', async () => {
      await fixture.write('/full/file');
      expect(await fixture.call('rm', { path: '/full' })).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT' },
      });
      expect((await fixture.call('rm', { path: '/' })).status).toBe(400);
      await fixture.ok('rm', { path: '/full/file' });
      expect(await fixture.ok('rm', { path: '/full/' })).toMatchObject({ path: '/full' });
      expect((await fixture.call('ls', { path: '/full' })).status).toBe(404);
    });

    it('allows another file at the path afterwards [FILE-2]', async () => {
      const first = await fixture.write('/again');
      await fixture.ok('rm', { path: '/again' });
      const second = await fixture.write('/AGAIN');
      expect(second).toMatchObject({ path: '/AGAIN' });
      expect(second.file_id).not.toBe(first.file_id);
    });
  });

  it('keeps workspaces apart', async () => {
    const [here, there] = [await fixture.elsewhere(), await fixture.elsewhere()];
    await here.write('/secret', { text: 'here' });
    expect((await there.call('read', { path: '/secret' })).status).toBe(404);
    await there.write('/secret', { text: 'there' });
    expect(await here.read('/secret')).toEqual({ text: 'here' });
    const stranger = await fixture.server.register();
    const answer = await stranger.post(`${here.base}/tools`, { tool: 'read', args: { path: '/secret' } });
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({
      error: 'Access forbidden: User is not a member of this workspace',
      code: 'FORBIDDEN',
    });
  });

  it('is one turn for requests with one Idempotency-Key [FILE-9]', async () => {
    const there = await fixture.elsewhere();
    const headers = { authorization: `Bearer ${there.user.token}`, 'idempotency-key': 'once' };
    const post = (text: string) => {
      const body = { tool: 'write', args: { path: '/once', content: { text } } };
      return there.server.request('POST', `${there.base}/tools`, body, headers);
    };
    const [first, again] = [await post('a'), await post('a')];
    expect([first.status, again.body]).toEqual([200, first.body]);
    expect((await post('b')).status).toBe(409);
  });

  it('keeps nothing of the arguments of a call that was rejected [SHARE-1]', async () => {
    const there = await fixture.elsewhere();
    expect((await there.call('ls', { path: '/', text: 'x'.repeat(1000) })).status).toBe(400);
    const [accepted] = await there.trail();
    const ref = {
      workspaceId: there.workspaceId,
      sessionId: accepted!.sessionId!,
      turnId: accepted!.turnId!,
    };
    expect(await storesOf(there.server.app).turns.argumentsOf(ref)).toEqual([null]);
  });

  it('records each step of a call with its arguments and its outcome [AUDIT-1] [FILE-9]', async () => {
    const there = await fixture.elsewhere();
    await there.write('/a');
    await there.call('read', { path: '/missing' });
    await there.call('ls', { path: 5 });
    const all = await there.trail();
    const ofTurns = all.filter(isOfTurn).map(({ name, fields }) => [name, fields.direct]);
    expect(ofTurns).toEqual(upTo(6).map((n) => [n % 2 === 1 ? 'Turn.Accepted' : 'Turn.Completed', true]));
    const trail = all.filter((event) => !isOfTurn(event));
    expect(trail.map(({ name, fields }) => [name, fields.path, fields.success, fields.errorCode])).toEqual([
      ['Tool.Write.Accepted', 'a', undefined, undefined],
      ['Tool.Write.Executing', 'a', undefined, undefined],
      ['File.Created', 'a', undefined, undefined],
      ['Tool.Write.ResultReceived', 'a', true, null],
      ['Tool.Read.Accepted', 'missing', undefined, undefined],
      ['Tool.Read.Executing', 'missing', undefined, undefined],
      ['Tool.Read.ResultReceived', 'missing', false, 'NOT_FOUND'],
      ['Tool.Ls.Rejected', undefined, false, 'INVALID_ARGUMENTS'],
    ]);
    const [accepted, , created] = trail;
    expect(created!.fields).toMatchObject({ toolName: 'write', source: 'tool', sizeBytes: 2 });
    expect(created).toMatchObject({ turnId: accepted!.turnId, callId: accepted!.callId });
    expect(JSON.stringify(trail)).not.toContain('"text"');
  });
});
