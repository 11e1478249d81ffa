import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../../src/common/ids.js';
import type { FileRecord, FileVersion, FolderRecord } from '../../src/storage/ports/files.store.js';
import { describeContract } from './backends.js';
import { anEvent, givenWorkspace, NOON, trailOf, upTo } from './records.js';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');

function aVersion(text: string, changes: Partial<FileVersion> = {}): FileVersion {
  return {
    ...{ id: newId(), number: 1, sha256: sha256(text), sizeBytes: bytesOf(text).length, shape: 'text' },
    ...{
      author: newId(),
      source: 'tool',
      batchId: null,
      filePatchId: null,
      callId: null,
      conflict: false,
      createdAt: NOON,
    },
    ...changes,
  };
}

function aFile(
  workspaceId: string,
  path: string,
  text = path,
  changes: Partial<FileRecord> = {},
): FileRecord {
  return {
    ...{ kind: 'file', id: newId(), workspaceId, path, docPath: path.slice(1).toLowerCase(), revision: 1 },
    ...{ lastNumber: 1, head: aVersion(text), createdAt: NOON, updatedAt: NOON, deletedAt: null },
    ...changes,
  };
}

function aFolder(workspaceId: string, path: string): FolderRecord {
  const docPath = path.slice(1).toLowerCase();
  return { kind: 'folder', id: newId(), workspaceId, path, docPath, createdAt: NOON };
}

/** The file with a new head. */
function withHead(file: FileRecord, text: string, changes: Partial<FileVersion> = {}): FileRecord {
  const number = file.lastNumber + 1;
  const head = aVersion(text, { number, ...changes });
  return { ...file, revision: file.revision + 1, lastNumber: number, head, updatedAt: NOON + number };
}

function moved(file: FileRecord, changes: Partial<FileRecord>): FileRecord {
  return { ...file, revision: file.revision + 1, ...changes };
}

describeContract('files', (opened) => {
  const files = () => opened().stores.files;
  const blobs = () => opened().stores.blobs;

  async function given(workspaceId: string, path: string, text = path): Promise<FileRecord> {
    const file = aFile(workspaceId, path, text);
    expect(await files().insert(file, bytesOf(text), [])).toBe(true);
    return file;
  }

  async function givenFolder(workspaceId: string, path: string): Promise<FolderRecord> {
    const folder = aFolder(workspaceId, path);
    expect(await files().insertFolder(folder, [])).toBe(true);
    return folder;
  }

  const paths = (entries: { path: string }[]): string[] => entries.map(({ path }) => path);

  describe('a file', () => {
    it('is found by its docPath and its id, in its workspace only', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const stranger = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/Read Me %41.md', 'Grüße');
      expect(await files().at(workspaceId, 'read me %41.md')).toEqual(file);
      expect(await files().byId(workspaceId, file.id)).toEqual(file);
      expect(await blobs().read(workspaceId, file.head.sha256)).toEqual(bytesOf('Grüße'));
      for (const elsewhere of [stranger, 'no-such-workspace']) {
        expect(await files().at(elsewhere, file.docPath)).toBeNull();
        expect(await files().byId(elsewhere, file.id)).toBeNull();
        expect(await files().page(elsewhere, { docPrefix: '', deleted: false }, null, 9)).toEqual([]);
        expect(await files().childrenOf(elsewhere, '', null, 9)).toEqual([]);
        expect(await files().below(elsewhere, '', null, 9)).toEqual([]);
        expect(await files().versionsOf(elsewhere, file.id, null, 9)).toEqual([]);
        expect(await files().versionOf(elsewhere, file.id, file.head.id)).toBeNull();
        expect(await blobs().read(elsewhere, file.head.sha256)).toBeNull();
        expect(await blobs().missing(elsewhere, [file.head.sha256])).toEqual([file.head.sha256]);
      }
    });

    it('belongs to a workspace that exists', async () => {
      const file = aFile('no-such-workspace', '/a');
      await expect(files().insert(file, bytesOf('/a'), [])).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it('is not stored where its path is taken or its folder is missing, nor its event', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      await given(workspaceId, '/taken');
      await givenFolder(workspaceId, '/Docs');
      for (const path of ['/taken', '/docs', '/nowhere/a']) {
        expect(await files().insert(aFile(workspaceId, path), bytesOf(path), [anEvent()])).toBe(false);
      }
      expect(await trailOf(opened().stores, workspaceId)).toEqual([]);
    });

    it('takes the first of writers who saw the same revision', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a', 'one');
      const contenders = ['two', 'three', 'four'].map((text) => withHead(file, text));
      const taken = await Promise.all(
        contenders.map((next) => files().commitVersion(next, 1, bytesOf(next.head.id), [anEvent()])),
      );
      expect(taken).toEqual([true, false, false]);
      expect(await files().at(workspaceId, 'a')).toEqual(contenders[0]);
      expect(await trailOf(opened().stores, workspaceId)).toHaveLength(1);
    });

    it('keeps every version, newest first, page by page', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      let file = await given(workspaceId, '/a', '1');
      const all = [file.head];
      for (const n of upTo(4)) {
        const callId = newId();
        const next = withHead(file, `${n}`, { source: 'patch', callId, batchId: newId(), shape: 'json' });
        expect(await files().commitVersion(next, file.revision, bytesOf(`${n}`), [])).toBe(true);
        all.unshift((file = next).head);
      }
      expect(await files().versionsOf(workspaceId, file.id, null, 2)).toEqual(all.slice(0, 2));
      expect(await files().versionsOf(workspaceId, file.id, 4, 9)).toEqual(all.slice(2));
      expect(await files().versionOf(workspaceId, file.id, all[3]!.id)).toEqual(all[3]);
      const other = await given(workspaceId, '/b');
      expect(await files().versionOf(workspaceId, other.id, all[3]!.id)).toBeNull();
    });

    it('keeps a conflicting version beside its head', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a', 'head');
      const conflict = aVersion('late', { number: 2, source: 'upload', filePatchId: newId() });
      const next = moved(file, { lastNumber: 2 });
      expect(await files().keepConflict(next, 1, conflict, bytesOf('late'), [anEvent()])).toBe(true);
      expect(await files().keepConflict(next, 1, conflict, bytesOf('late'), [anEvent()])).toBe(false);
      expect(await files().at(workspaceId, 'a')).toEqual(next);
      expect(await files().versionOf(workspaceId, file.id, conflict.id)).toEqual(conflict);
      expect(await blobs().read(workspaceId, conflict.sha256)).toEqual(bytesOf('late'));
    });

    it('is found by the file patch whose upload it was', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a', 'one');
      const filePatchId = newId();
      const next = withHead(file, 'two', { source: 'patch', filePatchId });
      await files().commitVersion(next, 1, bytesOf('two'), []);
      const found = { fileId: file.id, version: next.head };
      const { sha256: hash } = next.head;
      expect(await files().versionOfPatch(workspaceId, filePatchId, hash)).toEqual(found);
      expect(await files().versionOfPatch(workspaceId, filePatchId, file.head.sha256)).toBeNull();
      const stranger = await givenWorkspace(opened().stores);
      expect(await files().versionOfPatch(stranger, filePatchId, hash)).toBeNull();
    });

    it('gives its path free when it is deleted, and comes back where the path is free', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a', 'one');
      const deleted = moved(file, { deletedAt: NOON + 1 });
      expect(await files().save(deleted, 1, [])).toBe(true);
      expect(await files().at(workspaceId, 'a')).toBeNull();
      expect(await files().byId(workspaceId, file.id)).toEqual(deleted);
      expect(await files().lastDeletedAt(workspaceId, 'a')).toEqual(deleted);

      const second = await given(workspaceId, '/A', 'two');
      const revived = moved(deleted, { deletedAt: null });
      expect(await files().save(revived, 2, [anEvent()])).toBe(false);
      expect(await files().commitVersion(withHead(revived, 'x'), 2, bytesOf('x'), [])).toBe(false);
      expect(await files().byId(workspaceId, file.id)).toEqual(deleted);

      await files().save(moved(second, { deletedAt: NOON + 2 }), 1, []);
      expect((await files().lastDeletedAt(workspaceId, 'a'))?.id).toBe(second.id);
      expect(await files().save(revived, 2, [])).toBe(true);
      expect(await files().at(workspaceId, 'a')).toEqual(revived);
    });

    it('moves to a free path, also to another spelling of its own', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a');
      await given(workspaceId, '/taken');
      await givenFolder(workspaceId, '/docs');
      const to = (path: string, from = file): FileRecord =>
        moved(from, { path, docPath: path.slice(1).toLowerCase() });
      expect(await files().save(to('/taken'), 1, [])).toBe(false);
      expect(await files().save(to('/nowhere/a'), 1, [])).toBe(false);
      expect(await files().at(workspaceId, 'a')).toEqual(file);
      const spelt = to('/A');
      expect(await files().save(spelt, 1, [])).toBe(true);
      const nested = to('/docs/A', spelt);
      expect(await files().save(nested, 2, [])).toBe(true);
      expect(await files().at(workspaceId, 'a')).toBeNull();
      expect(await files().at(workspaceId, 'docs/a')).toEqual(nested);
      expect(paths(await files().childrenOf(workspaceId, 'docs', null, 9))).toEqual(['/docs/A']);
    });

    it('can begin as a deleted one, so that an upload without a place is kept', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = aFile(workspaceId, '/nowhere/a', 'late', { deletedAt: NOON });
      expect(await files().insert(file, bytesOf('late'), [])).toBe(true);
      expect(await files().at(workspaceId, 'nowhere/a')).toBeNull();
      expect(await files().lastDeletedAt(workspaceId, 'nowhere/a')).toEqual(file);
    });
  });

  describe('a folder', () => {
    it('is at its docPath, in its own spelling', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const folder = await givenFolder(workspaceId, '/Docs');
      expect(await files().at(workspaceId, 'docs')).toEqual(folder);
      expect(await files().byId(workspaceId, folder.id)).toBeNull();
    });

    it('is made once, below a folder that exists', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      await given(workspaceId, '/file');
      await givenFolder(workspaceId, '/docs');
      for (const path of ['/docs', '/DOCS', '/file', '/file/a', '/nowhere/a']) {
        expect(await files().insertFolder(aFolder(workspaceId, path), [anEvent()])).toBe(false);
      }
      expect(await trailOf(opened().stores, workspaceId)).toEqual([]);
    });

    it('is removed only while nothing is in it', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const folder = await givenFolder(workspaceId, '/docs');
      const file = await given(workspaceId, '/docs/a');
      expect(await files().removeFolder(folder, NOON, [anEvent()])).toBe(false);
      await files().save(moved(file, { deletedAt: NOON }), 1, []);
      expect(await files().removeFolder(folder, NOON, [])).toBe(true);
      expect(await files().removeFolder(folder, NOON, [anEvent()])).toBe(false);
      expect(await files().at(workspaceId, 'docs')).toBeNull();
      expect(await trailOf(opened().stores, workspaceId)).toEqual([]);
    });

    it('lists what is in it by code point, and what is below it by docPath, page by page', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      for (const path of ['/d', '/d/sub', '/d/sub/deep']) await givenFolder(workspaceId, path);
      for (const path of [
        '/d/b',
        '/d/B2',
        '/d/\u{1F600}',
        '/d/\uFF5E',
        '/d/sub-x',
        '/d/sub/y',
        '/e',
        '/d.txt',
      ]) {
        await given(workspaceId, path);
      }
      const gone = await given(workspaceId, '/d/gone');
      await files().save(moved(gone, { deletedAt: NOON }), 1, []);
      const children = ['/d/B2', '/d/b', '/d/sub', '/d/sub-x', '/d/\uFF5E', '/d/\u{1F600}'];
      expect(paths(await files().childrenOf(workspaceId, 'd', null, 9))).toEqual(children);
      expect(paths(await files().childrenOf(workspaceId, 'd', '/d/b', 2))).toEqual(children.slice(2, 4));
      const below = await files().below(workspaceId, 'd', null, 99);
      expect(paths(below)).toEqual([
        ...['/d/b', '/d/B2', '/d/sub', '/d/sub-x', '/d/sub/deep', '/d/sub/y', '/d/\uFF5E', '/d/\u{1F600}'],
      ]);
      expect(await files().below(workspaceId, 'd', below[2]!.docPath, 2)).toEqual(below.slice(3, 5));
      expect(paths(await files().childrenOf(workspaceId, '', null, 9))).toEqual(['/d', '/d.txt', '/e']);
      expect(await files().below(workspaceId, '', null, 99)).toHaveLength(11);
      expect(below[0]).toEqual({ kind: 'file', path: '/d/b', docPath: 'd/b', updatedAt: NOON });
    });
  });

  it('are listed by prefix, live or deleted, page by page', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    await givenFolder(workspaceId, '/a');
    for (const path of ['/a/1', '/a/2', '/a/\u{10FFFF}', '/a-b', '/b', '/%_']) await given(workspaceId, path);
    const list = (docPrefix: string, after: FileRecord | null = null, limit = 9, deleted = false) =>
      files().page(workspaceId, { docPrefix, deleted }, after, limit);
    expect(paths(await list('a'))).toEqual(['/a-b', '/a/1', '/a/2', '/a/\u{10FFFF}']);
    expect(paths(await list('a/'))).toEqual(['/a/1', '/a/2', '/a/\u{10FFFF}']);
    expect(paths(await list('%'))).toEqual(['/%_']);
    const [first] = await list('a/', null, 1);
    expect(paths(await list('a/', first, 1))).toEqual(['/a/2']);
    expect(await list('', null, 9, true)).toEqual([]);
    const [b] = await list('b');
    const gone = moved(b!, { deletedAt: NOON });
    await files().save(gone, 1, []);
    const again = await given(workspaceId, '/b');
    await files().save(moved(again, { deletedAt: NOON }), 1, []);
    const [one] = await list('', null, 1, true);
    const [two] = await list('', one, 9, true);
    expect(new Set([one!.id, two!.id])).toEqual(new Set([gone.id, again.id]));
  });

  it('outlive the server', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const file = await given(workspaceId, '/a', 'kept');
    await opened().reopen();
    expect(await files().at(workspaceId, 'a')).toEqual(file);
    expect(await blobs().read(workspaceId, file.head.sha256)).toEqual(bytesOf('kept'));
  });
});

describeContract('blobs', (opened) => {
  const blobs = () => opened().stores.blobs;

  it('are stored once a workspace, whatever bytes they are', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 10, 0]), Buffer.alloc(200_000, 7)]) {
      const hash = sha256(bytes);
      expect(await blobs().missing(workspaceId, [hash])).toEqual([hash]);
      await blobs().put(workspaceId, hash, bytes, NOON);
      await blobs().put(workspaceId, hash, bytes, NOON);
      expect(await blobs().missing(workspaceId, [hash])).toEqual([]);
      expect(await blobs().read(workspaceId, hash)).toEqual(bytes);
    }
  });

  it('are there before what refers to them', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const file = aFile(workspaceId, '/a', 'text');
    await expect(opened().stores.files.insert(file, null, [anEvent()])).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await opened().stores.files.at(workspaceId, 'a')).toBeNull();
    await blobs().put(workspaceId, file.head.sha256, bytesOf('text'), NOON);
    expect(await opened().stores.files.insert(file, null, [])).toBe(true);
  });

  it('are swept only where they were put long ago and nothing came to refer to them', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    await blobs().sweep(Infinity, 100);
    const put = (text: string, at: number) => blobs().put(workspaceId, sha256(text), bytesOf(text), at);
    await put('old', NOON);
    await put('renewed', NOON);
    await put('renewed', NOON + 10);
    await put('used', NOON);
    await opened().stores.files.insert(aFile(workspaceId, '/a', 'used'), null, []);
    expect(await blobs().sweep(NOON + 5, 100)).toBe(1);
    const hashes = ['old', 'renewed', 'used'].map((text) => sha256(text));
    expect(await blobs().missing(workspaceId, hashes)).toEqual([sha256('old')]);
  });
});
