import { jest } from '@jest/globals';
import { type CommittedFile, packBlobs, type RefusedFile } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { DomainError } from '../../../src/common/domain-error.js';
import { newId } from '../../../src/common/ids.js';
import { type FileRecord, FileStore, type FolderRecord } from '../../../src/storage/ports/files.store.js';
import { SqliteDatabase } from '../../../src/storage/sqlite/database.js';
import { describeEmbedded } from '../../support/backend.js';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('a folder', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  let fixture: ToolsFixture;
  beforeEach(async () => void (fixture = await shared.elsewhere()));
  afterEach(() => jest.restoreAllMocks());

  const store = () => fixture.server.app.get(FileStore, { strict: false });
  const status = async (tool: string, args: object) => (await fixture.call(tool, args)).status;
  const namesOf = async (path: string) =>
    (await fixture.trail(`&path=${encodeURIComponent(path)}`))
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('Tool.'));

  /** Writes a file into a folder that another server removes at the same moment. */
  async function writeWhileRemoved(folder: string, name: string): Promise<Record<string, string>> {
    await fixture.ok('mkdir', { path: folder });
    const files = store();
    const made = (await files.at(fixture.workspaceId, folder.slice(1).toLowerCase())) as FolderRecord;
    const insert = jest.spyOn(files, 'insert').mockImplementationOnce(async (...given) => {
      await files.removeFolder(made, Date.now(), []);
      return files.insert(...given);
    });
    try {
      return await fixture.write(`${folder}/${name}`, { text: 'kept' });
    } finally {
      insert.mockRestore();
    }
  }

  describe('that was removed while a file was written into it [FILE-8]', () => {
    it('exists as long as the file', async () => {
      await writeWhileRemoved('/Docs', 'A.md');
      expect(await fixture.list()).toEqual(['/Docs']);
      expect(await fixture.list('/docs')).toEqual(['/Docs/A.md']);
      expect(await fixture.list('/', true)).toEqual(['/Docs', '/Docs/A.md']);
      expect(await fixture.read('/docs/a.md')).toEqual({ text: 'kept' });
      expect(await fixture.ok('glob', { pattern: '**', path: '/docs' })).toMatchObject({
        files: [{ path: '/Docs/A.md' }],
      });
      expect(await fixture.ok('grep', { pattern: 'kept', path: '/docs' })).toMatchObject({
        filesSearched: 1,
      });
      expect(await status('rm', { path: '/Docs' })).toBe(409);
      expect(await status('read', { path: '/Docs' })).toBe(400);
      expect(await status('write', { path: '/Docs', content: 'x' })).toBe(400);
      await fixture.ok('rm', { path: '/Docs/A.md' });
      expect(await fixture.list()).toEqual([]);
      expect(await status('ls', { path: '/Docs' })).toBe(404);
      expect(await status('rm', { path: '/Docs' })).toBe(404);
    });

    it('is created again with the same spelling by the next write into it', async () => {
      await writeWhileRemoved('/Docs', 'A.md');
      await fixture.write('/docs/b.md');
      expect(await fixture.list('/', true)).toEqual(['/Docs', '/Docs/A.md', '/Docs/b.md']);
      expect(await namesOf('/Docs')).toEqual(['Folder.Created', 'Folder.Created']);
      for (const path of ['/docs/a.md', '/docs/b.md']) await fixture.ok('rm', { path });
      expect(await fixture.list()).toEqual(['/Docs']);
    });

    it('can be created and moved out of', async () => {
      await writeWhileRemoved('/Docs', 'A.md');
      const { path, fileId, created } = await fixture.ok('mkdir', { path: '/docs' });
      expect({ path, created }).toEqual({ path: '/Docs', created: true });
      expect(await fixture.ok('mkdir', { path: '/docs' })).toEqual({ path: '/Docs', fileId, created: false });
      await fixture.ok('mv', { from: '/docs/a.md', to: '/Other/A.md' });
      expect(await fixture.list('/', true)).toEqual(['/Docs', '/Other', '/Other/A.md']);
    });

    it('accepts restored files', async () => {
      const { file_id } = await writeWhileRemoved('/Docs', 'A.md');
      await fixture.ok('rm', { path: '/docs/a.md' });
      expect(await fixture.list()).toEqual([]);
      expect((await fixture.user.post(`${fixture.base}/files/${file_id}/restore`)).status).toBe(200);
      expect(await fixture.list('/', true)).toEqual(['/Docs', '/Docs/A.md']);
    });
  });

  it('that was created concurrently in another spelling gives its spelling to files written into it', async () => {
    const files = store();
    jest.spyOn(files, 'insertFolder').mockImplementationOnce(async (folder, events) => {
      await files.insertFolder({ ...folder, id: newId(), path: '/DOCS' }, []);
      return files.insertFolder(folder, events);
    });
    expect(await fixture.write('/docs/a.md')).toMatchObject({ path: '/DOCS/a.md' });
    expect(await fixture.list('/', true)).toEqual(['/DOCS', '/DOCS/a.md']);
  });

  describe('that is also a file, after concurrent writes [FILE-8]', () => {
    /** A file below a file, as two servers at once may leave it. */
    async function writeBelow(path: string): Promise<FileRecord> {
      const now = Date.now();
      const bytes = Buffer.from(path);
      const head: FileRecord['head'] = {
        ...{ id: newId(), number: 1, sha256: sha256(bytes), sizeBytes: bytes.length, shape: 'text' },
        ...{ author: fixture.user.id, source: 'tool', batchId: null, filePatchId: null, callId: null },
        ...{ isExecutable: null, conflict: false, createdAt: now },
      };
      const file: FileRecord = {
        ...{ kind: 'file', id: newId(), workspaceId: fixture.workspaceId, path, docPath: path.slice(1) },
        ...{ revision: 1, lastNumber: 1, head, createdAt: now, updatedAt: now, deletedAt: null },
        holder: fixture.user.id,
      };
      expect(await store().insert(file, bytes, [])).toBe(true);
      return file;
    }

    it('is read as a file and listed as a folder', async () => {
      await fixture.write('/a', 'above');
      await writeBelow('/a/b');
      expect(await fixture.read('/a')).toBe('above');
      expect(await fixture.read('/a/b')).toEqual({ text: '/a/b' });
      expect(await fixture.list()).toEqual(['/a']);
      expect(await fixture.list('/a')).toEqual(['/a/b']);
      expect(await fixture.list('/', true)).toEqual(['/a', '/a/b']);
      expect(await fixture.ok('workspace_list_files', {})).toMatchObject({
        files: [{ path: '/a' }, { path: '/a/b' }],
      });
      expect(await status('ls', { path: '/a/b' })).toBe(400);
      expect(await status('ls', { path: '/a/c' })).toBe(400);
      expect(await status('write', { path: '/a/c', content: 'x' })).toBe(409);
      expect(await status('mkdir', { path: '/a' })).toBe(409);
    });

    it('keeps one when the other is deleted', async () => {
      const { file_id } = await fixture.write('/a', 'above');
      await writeBelow('/a/b');
      await fixture.ok('rm', { path: '/a' });
      expect(await fixture.list('/', true)).toEqual(['/a', '/a/b']);
      expect((await fixture.user.post(`${fixture.base}/files/${file_id}/restore`)).status).toBe(409);
      await fixture.ok('mv', { from: '/a/b', to: '/b' });
      expect((await fixture.user.post(`${fixture.base}/files/${file_id}/restore`)).status).toBe(200);
      expect(await fixture.list('/', true)).toEqual(['/a', '/b']);
    });
  });

  describeEmbedded('costs', () => {
    const commitsOf = async (write: () => Promise<unknown>): Promise<number> => {
      const database = fixture.server.app.get(SqliteDatabase, { strict: false });
      const before = database.commits;
      await write();
      return database.commits - before;
    };
    const put = (path: string) => fixture.raw('PUT', `/contents${path}`, {}, path);

    it('one commit more than the file, however many folders are missing', async () => {
      expect(await commitsOf(() => put('/top.md'))).toBe(1);
      expect(await commitsOf(() => put('/one/two/three/a.md'))).toBe(2);
      expect(await commitsOf(() => put('/one/two/three/b.md'))).toBe(1);
      expect(await commitsOf(() => put('/one/two/three/b.md'))).toBe(1);
    });

    it('no more for a hundred concurrent files', async () => {
      const paths = Array.from({ length: 100 }, (_, n) => `deep/${n % 10}/${n}`);
      // One would do, but a commit lets others in after 20 ms: a slow machine needs some.
      expect(await commitsOf(() => commit(paths))).toBeLessThan(20);
    });
  });

  /** Commits files that all hold the same, and gives what became of each. */
  async function commit(paths: readonly string[]): Promise<(CommittedFile | RefusedFile)[]> {
    await fixture.raw('POST', '/blobs', {}, packBlobs([Buffer.from('x')]));
    const files = paths.map((path) => ({ path, sha256: sha256('x'), baseSha256: null }));
    const { body } = await fixture.user.post<{ files: (CommittedFile | RefusedFile)[] }>(
      `${fixture.base}/files/commit`,
      { files },
    );
    return body.files;
  }

  it('is created by one of several concurrent writes', async () => {
    const insertFolder = jest.spyOn(store(), 'insertFolder');
    await commit(Array.from({ length: 100 }, (_, n) => `/deep/${n % 10}/${n}`));
    expect(await fixture.list('/', true)).toHaveLength(111);
    expect(insertFolder).toHaveBeenCalledTimes(11);
  });

  it('is created again for a file after its removal', async () => {
    const write = () => fixture.write('/docs/a.md');
    await write();
    await fixture.ok('rm', { path: '/docs/a.md' });
    await fixture.ok('rm', { path: '/docs' });
    await write();
    expect(await namesOf('/docs')).toEqual(['Folder.Created', 'Folder.Deleted', 'Folder.Created']);
  });

  it('that the first write could not create is created by the next', async () => {
    jest.spyOn(store(), 'insertFolder').mockRejectedValueOnce(new DomainError('UNAVAILABLE', 'Not now.'));
    const outcomes = await commit(['/new/a', '/new/b', '/new/c']);
    expect(outcomes.map((one) => ('error' in one ? one.error.code : 'made'))).toEqual([
      'UNAVAILABLE',
      'made',
      'made',
    ]);
    expect(await fixture.list('/', true)).toEqual(['/new', '/new/b', '/new/c']);
  });

  it('has the reported state after concurrent writes and removals', async () => {
    for (let round = 0; round < 10; round += 1) {
      await fixture.ok('mkdir', { path: '/busy' });
      const [written, removed] = await Promise.all([
        fixture.call('write', { path: `/busy/${round}`, content: 'x' }),
        fixture.call('rm', { path: '/busy' }),
      ]);
      expect(written.status).toBe(200);
      expect([200, 409]).toContain(removed.status);
      expect(await fixture.list('/busy')).toEqual([`/busy/${round}`]);
      expect(await fixture.list()).toEqual(['/busy']);
      await fixture.ok('rm', { path: `/busy/${round}` });
    }
  });
});
