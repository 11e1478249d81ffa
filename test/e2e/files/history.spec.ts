import type { CloudFilePage, CloudFileVersionPage, RestoredFile } from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('files', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());

  const list = async (query = '', there = fixture) =>
    (await there.user.get<CloudFilePage>(`${there.base}/files?${query}`)).body;
  const versions = (fileId: string, query = '') =>
    fixture.user.get<CloudFileVersionPage>(`${fixture.base}/files/${fileId}/versions?${query}`);
  const restore = (fileId: string, body?: object) =>
    fixture.user.post<RestoredFile & { code?: string }>(`${fixture.base}/files/${fileId}/restore`, body);
  const remove = (path: string) => fixture.ok('rm', { path });
  const edit = async (path: string, ...texts: string[]): Promise<string> => {
    let fileId = '';
    for (const text of texts) fileId = (await fixture.write(path, { text })).file_id!;
    return fileId;
  };

  describe('are listed', () => {
    it('by docPath with their heads, without folders', async () => {
      const there = await fixture.elsewhere();
      const b = await there.write('/B.md', 'b');
      const a = await there.write('/a/Deep.md', 'deep');
      const { files, nextCursor } = await list('', there);
      expect(nextCursor).toBeNull();
      expect(files).toEqual([
        {
          ...{ fileId: a.file_id, path: '/a/Deep.md', docPath: 'a/deep.md', headVersionId: a.version_id },
          ...{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, sizeBytes: 4, deletedAt: null },
          updatedAt: expect.stringMatching(/Z$/) as string,
        },
        expect.objectContaining({ fileId: b.file_id, path: '/B.md' }),
      ]);
    });

    it('by prefix, page by page', async () => {
      const there = await fixture.elsewhere();
      for (const path of ['/src/a', '/src/b', '/src/c', '/source', '/other']) await there.write(path);
      const paths = async (query: string) => (await list(query, there)).files.map(({ path }) => path);
      expect(await paths('prefix=/SRC/')).toEqual(['/src/a', '/src/b', '/src/c']);
      expect(await paths('prefix=s')).toEqual(['/source', '/src/a', '/src/b', '/src/c']);
      const first = await list('prefix=src&limit=2', there);
      expect(first.files).toHaveLength(2);
      const rest = await list(`prefix=src&limit=2&cursor=${first.nextCursor}`, there);
      expect(rest.files.map(({ path }) => path)).toEqual(['/src/c']);
      expect(rest.nextCursor).toBeNull();
      for (const query of ['cursor=nonsense', 'limit=0', 'limit=1001', 'deleted=maybe', 'unknown=1']) {
        expect((await there.user.get(`${there.base}/files?${query}`)).status).toBe(400);
      }
    });

    it('as deleted files, separately', async () => {
      const there = await fixture.elsewhere();
      await there.write('/kept');
      const { file_id } = await there.write('/gone');
      await there.ok('rm', { path: '/gone' });
      expect((await list('', there)).files.map(({ path }) => path)).toEqual(['/kept']);
      const { files } = await list('deleted=true', there);
      expect(files).toMatchObject([{ fileId: file_id, path: '/gone' }]);
      expect(files[0]!.deletedAt).toMatch(/Z$/);
    });
  });

  describe('versions', () => {
    it('have author, source and time, newest first', async () => {
      const fileId = await edit('/v.md', 'one', 'two');
      await fixture.raw('PUT', '/contents/v.md', {}, 'three');
      const { body } = await versions(fileId);
      expect(body.versions.map(({ number, source }) => [number, source])).toEqual([
        [3, 'upload'],
        [2, 'tool'],
        [1, 'tool'],
      ]);
      expect(body.versions[0]).toMatchObject({
        ...{ author: fixture.user.id, sizeBytes: 5, batchId: null, filePatchId: null, callId: null },
      });
      const page = await versions(fileId, 'limit=2');
      expect(page.body.nextCursor).toBe('2');
      expect((await versions(fileId, 'limit=2&cursor=2')).body.versions).toHaveLength(1);
    });

    it('can be read, of this file only', async () => {
      const fileId = await edit('/fetch.md', 'one', 'two');
      const other = await edit('/other.md', 'x');
      const { body } = await versions(fileId);
      const oldest = body.versions[1]!.versionId;
      const answer = await fixture.raw('GET', `/files/${fileId}/versions/${oldest}/content`);
      expect(answer.body.toString()).toBe('one');
      expect(answer.headers.get('etag')).toBe(`"${body.versions[1]!.sha256}"`);
      expect((await fixture.raw('GET', `/files/${other}/versions/${oldest}/content`)).status).toBe(404);
      expect((await versions(randomUUID())).status).toBe(404);
      expect((await versions('no-uuid')).status).toBe(400);
    });

    it('can be compared', async () => {
      const fileId = await edit('/Diff.md', 'a\nb\nc\n', 'a\nB\nc\n', 'a\nB\nc\nd');
      const newest = await fixture.raw('GET', `/files/${fileId}/diff`);
      expect(newest.headers.get('content-type')).toBe('text/x-diff; charset=utf-8');
      expect(newest.body.toString()).toBe(
        'diff --git a/Diff.md b/Diff.md\n--- a/Diff.md\n+++ b/Diff.md\n@@ -1,3 +1,4 @@\n a\n B\n c\n+d\n\\ No newline at end of file\n',
      );
      const { body } = await versions(fileId);
      const [three, , one] = body.versions.map(({ versionId }) => versionId);
      const whole = await fixture.raw('GET', `/files/${fileId}/diff?from=${one}&to=${three}`);
      expect(whole.body.toString()).toContain('-b\n+B\n c\n+d\n');
      expect((await fixture.raw('GET', `/files/${fileId}/diff?from=${one}&to=${one}`)).body).toHaveLength(0);
      expect((await fixture.raw('GET', `/files/${fileId}/diff?to=${one}`)).status).toBe(400);
      await fixture.raw('PUT', '/contents/diff.md', {}, Buffer.from([0xff, 0]));
      const binary = await fixture.raw('GET', `/files/${fileId}/diff`);
      expect(binary.body.toString()).toBe('Binary files a/Diff.md and b/Diff.md differ\n');
      const { versionId } = (await versions(fileId)).body.versions[0]!;
      const same = await fixture.raw('GET', `/files/${fileId}/diff?from=${versionId}&to=${versionId}`);
      expect(same.body).toHaveLength(0);
    });

    it('that differ in every one of many lines are compared completely', async () => {
      const lines = (seed: string) => Array.from({ length: 60_000 }, (_, n) => `${seed}${n}\n`);
      const [before, after] = [lines('a'), lines('b')];
      const fileId = await edit('/huge.md', before.join(''), after.join(''));
      const { status, body } = await fixture.raw('GET', `/files/${fileId}/diff`);
      expect(status).toBe(200);
      const [, , , ...hunk] = body.toString().split(/(?<=\n)/);
      expect(hunk).toEqual([
        '@@ -1,60000 +1,60000 @@\n',
        ...before.map((line) => `-${line}`),
        ...after.map((line) => `+${line}`),
      ]);
    });
  });

  describe('restore', () => {
    it('undoes a deletion and creates the missing folders [FILE-2]', async () => {
      const fileId = await edit('/back/It.md', 'kept');
      await remove('/back/it.md');
      await remove('/back');
      const { status, body } = await restore(fileId);
      expect(status).toBe(200);
      expect(body).toMatchObject({ fileId, path: '/back/It.md' });
      expect(await fixture.read('/back/It.md')).toEqual({ text: 'kept' });
      expect((await fixture.trail(`&event=File.Restored&path=/back/It.md`))[0]!.fields).toMatchObject({
        fileId,
      });
    });

    it('of a live file without a version changes nothing', async () => {
      const fileId = await edit('/live.md', 'one', 'two');
      const before = (await versions(fileId)).body;
      expect((await restore(fileId, {})).body.versionId).toBe(before.versions[0]!.versionId);
      expect((await versions(fileId)).body).toEqual(before);
    });

    it('of a version creates a new head of the same content type', async () => {
      const fileId = (await fixture.write('/shape.json', { a: 1 })).file_id!;
      await fixture.write('/shape.json', 'text');
      const [, first] = (await versions(fileId)).body.versions;
      const { body } = await restore(fileId, { versionId: first!.versionId });
      expect(await fixture.read('/shape.json')).toEqual({ a: 1 });
      expect((await versions(fileId)).body.versions[0]).toMatchObject({
        ...{ versionId: body.versionId, number: 3, source: 'restore', sha256: first!.sha256 },
      });
      expect((await restore(fileId, { versionId: randomUUID() })).status).toBe(404);
    });

    it('of a version of a deleted file restores the file', async () => {
      const fileId = await edit('/lost.md', 'one', 'two');
      await remove('/lost.md');
      const [, first] = (await versions(fileId)).body.versions;
      expect((await restore(fileId, { versionId: first!.versionId })).status).toBe(200);
      expect(await fixture.read('/lost.md')).toEqual({ text: 'one' });
    });

    it('is rejected when its path or a parent path is taken', async () => {
      const taken = await edit('/taken.md', 'old');
      await remove('/taken.md');
      await fixture.write('/TAKEN.md', 'new');
      expect(await restore(taken)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
      const below = await edit('/above/below.md', 'old');
      await remove('/above/below.md');
      await remove('/above');
      await fixture.write('/above', 'a file now');
      expect((await restore(below)).status).toBe(409);
      expect((await restore(randomUUID())).status).toBe(404);
    });
  });

  it('are not readable by non-members', async () => {
    const fileId = await edit('/mine.md', 'x');
    const stranger = await fixture.server.register();
    const theirs = (await stranger.createWorkspace()).id;
    for (const path of ['', `/${fileId}/versions`, `/${fileId}/diff`]) {
      expect((await stranger.get(`${fixture.base}/files${path}`)).status).toBe(403);
    }
    expect((await stranger.get(`/workspaces/${theirs}/files/${fileId}/versions`)).status).toBe(404);
    expect((await stranger.post(`/workspaces/${theirs}/files/${fileId}/restore`)).status).toBe(404);
  });
});
