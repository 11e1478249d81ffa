import { newId } from '../../src/common/ids.js';
import type { FileRecord } from '../../src/storage/ports/files.store.js';
import { describeContract } from './backends.js';
import { aFile, aVersion, bytesOf, givenFile, givenFolder, moved, withHead } from './file-records.js';
import { anEvent, givenWorkspace, trailOf, upTo } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

const HOUR = 3_600_000;

describeContract('files', (opened) => {
  const files = () => opened().stores.files;
  const blobs = () => opened().stores.blobs;

  const given = (workspaceId: string, path: string, text = path) =>
    givenFile(opened().stores, workspaceId, path, text);
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

    it('is not stored when its path is taken, nor is its event', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      await given(workspaceId, '/taken');
      await givenFolder(opened().stores, workspaceId, '/Docs');
      for (const path of ['/taken', '/docs']) {
        expect(await files().insert(aFile(workspaceId, path), bytesOf(path), [anEvent()])).toBe(false);
      }
      expect(await trailOf(opened().stores, workspaceId)).toEqual([]);
    });

    it('is rejected for missing bytes only when nothing else rejects it', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const [taken, file] = [await given(workspaceId, '/taken'), await given(workspaceId, '/a')];
      const missing = {
        code: 'CONFLICT',
        message: expect.stringContaining('does not hold the bytes') as string,
      };
      const toTaken = { path: taken.path, docPath: taken.docPath };
      const [next, late] = [withHead(file, 'none'), aVersion('nothing', { number: 2, conflict: true })];
      const kept = moved(file, { lastNumber: 2 });
      // Its place is taken, or another revision is there.
      expect(await files().insert(aFile(workspaceId, '/taken', 'none'), null, [anEvent()])).toBe(false);
      expect(await files().commitVersion({ ...next, ...toTaken }, 1, null, [anEvent()])).toBe(false);
      expect(await files().commitVersion(next, 9, null, [anEvent()])).toBe(false);
      expect(await files().keepConflict(kept, 9, late, null, [anEvent()])).toBe(false);
      const nowhere = aFile(workspaceId, '/b', 'none');
      await expect(files().insert(nowhere, null, [anEvent()])).rejects.toMatchObject(missing);
      await expect(files().commitVersion(next, 1, null, [anEvent()])).rejects.toMatchObject(missing);
      await expect(files().keepConflict(kept, 1, late, null, [anEvent()])).rejects.toMatchObject(missing);
      expect(await files().byId(workspaceId, file.id)).toEqual(file);
      expect(await files().at(workspaceId, 'b')).toBeNull();
      expect(await trailOf(opened().stores, workspaceId)).toEqual([]);
    });

    it('accepts one of several writers of the same revision', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a', 'one');
      const contenders = ['two', 'three', 'four'].map((text) => withHead(file, text));
      const taken = await Promise.all(
        contenders.map((next) => files().commitVersion(next, 1, bytesOf(next.head.id), [anEvent()])),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await files().at(workspaceId, 'a')).toEqual(contenders[taken.indexOf(true)]);
      expect(await files().versionsOf(workspaceId, file.id, null, 9)).toHaveLength(2);
      expect(await trailOf(opened().stores, workspaceId)).toHaveLength(1);
    });

    it('keeps every version, newest first, page by page', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      let file = await given(workspaceId, '/a', '1');
      const all = [file.head];
      for (const n of upTo(4)) {
        const callId = newId();
        const next = withHead(file, `${n}`, {
          ...{ source: 'patch', callId, batchId: newId(), shape: 'json', isExecutable: n % 2 === 0 },
        });
        expect(await files().commitVersion(next, file.revision, bytesOf(`${n}`), [])).toBe(true);
        all.unshift((file = next).head);
      }
      expect(await files().versionsOf(workspaceId, file.id, null, 2)).toEqual(all.slice(0, 2));
      expect(await files().versionsOf(workspaceId, file.id, 4, 9)).toEqual(all.slice(2));
      expect(await files().versionOf(workspaceId, file.id, all[3]!.id)).toEqual(all[3]);
      const other = await given(workspaceId, '/b');
      expect(await files().versionOf(workspaceId, other.id, all[3]!.id)).toBeNull();
    });

    it('keeps a hundred versions, each to be found as the last one', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      let file = await given(workspaceId, '/a', '1');
      const all = [file.head];
      const filePatchId = newId();
      for (const n of upTo(99)) {
        const version = withHead(file, `${n}`, { conflict: n === 1, filePatchId }).head;
        const next = moved(file, { lastNumber: version.number, ...(n !== 1 && { head: version }) });
        const bytes = bytesOf(`${n}`);
        const write =
          n === 1
            ? files().keepConflict(next, file.revision, version, bytes, [])
            : files().commitVersion(next, file.revision, bytes, []);
        expect(await write).toBe(true);
        file = next;
        all.unshift(version);
      }
      expect(await files().versionsOf(workspaceId, file.id, null, 200)).toEqual(all);
      expect(await files().versionsOf(workspaceId, file.id, 60, 30)).toEqual(all.slice(41, 71));
      const [first, kept] = [all[99]!, all[98]!];
      expect(await files().versionOf(workspaceId, file.id, first.id)).toEqual(first);
      expect(await files().conflictOf(workspaceId, file.id, kept.sha256)).toEqual(kept);
      expect(await files().conflictOf(workspaceId, file.id, all[0]!.sha256)).toBeNull();
      const found = { fileId: file.id, version: kept };
      expect(await files().versionOfPatch(workspaceId, filePatchId, kept.sha256)).toEqual(found);
      await blobs().mark(NOON + HOUR, 10_000, NOON + HOUR);
      await blobs().removeMarked(NOON + 2 * HOUR, 10_000);
      expect(await blobs().read(workspaceId, first.sha256)).toEqual(bytesOf('1'));
    });

    it('keeps a conflicting version beside its head', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a', 'head');
      const conflict = aVersion('late', { number: 2, source: 'upload', filePatchId: newId() });
      const next = moved(file, { lastNumber: 2 });
      expect(await files().keepConflict(next, 1, conflict, bytesOf('late'), [anEvent()])).toBe(true);
      const later = aVersion('later', { number: 2 });
      expect(await files().keepConflict(next, 1, later, bytesOf('later'), [anEvent()])).toBe(false);
      expect(await files().at(workspaceId, 'a')).toEqual(next);
      expect(await files().versionOf(workspaceId, file.id, conflict.id)).toEqual(conflict);
      expect(await blobs().read(workspaceId, conflict.sha256)).toEqual(bytesOf('late'));
    });

    it('is found by the file patch of its upload', async () => {
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

    it('frees its path when it is deleted, and can be restored while the path is free', async () => {
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
      await givenFolder(opened().stores, workspaceId, '/docs');
      const to = (path: string, from = file): FileRecord =>
        moved(from, { path, docPath: path.slice(1).toLowerCase() });
      expect(await files().save(to('/taken'), 1, [])).toBe(false);
      expect(await files().save(to('/docs'), 1, [])).toBe(false);
      expect(await files().at(workspaceId, 'a')).toEqual(file);
      const spelt = to('/A');
      expect(await files().save(spelt, 1, [])).toBe(true);
      const nested = to('/docs/A', spelt);
      expect(await files().save(nested, 2, [])).toBe(true);
      expect(await files().at(workspaceId, 'a')).toBeNull();
      expect(await files().at(workspaceId, 'docs/a')).toEqual(nested);
      expect(paths(await files().childrenOf(workspaceId, 'docs', null, 9))).toEqual(['/docs/A']);
    });

    it('can be created as deleted, so that an upload without a place is kept', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = aFile(workspaceId, '/nowhere/a', 'late', { deletedAt: NOON });
      expect(await files().insert(file, bytesOf('late'), [])).toBe(true);
      expect(await files().at(workspaceId, 'nowhere/a')).toBeNull();
      expect(await files().lastDeletedAt(workspaceId, 'nowhere/a')).toEqual(file);
    });
  });

  describe('sent again', () => {
    it('are stored and recorded once', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const file = aFile(workspaceId, '/a', 'one');
      const second = withHead(file, 'two');
      const conflict = aVersion('late', { number: 3, conflict: true });
      const third = moved(second, { lastNumber: 3 });
      const gone = moved(third, { deletedAt: NOON });
      const events = upTo(4).map(() => [anEvent()]);
      const writes = [
        () => files().insert(file, bytesOf('one'), events[0]!),
        () => files().commitVersion(second, 1, bytesOf('two'), events[1]!),
        () => files().keepConflict(third, 2, conflict, bytesOf('late'), events[2]!),
        () => files().save(gone, 3, events[3]!),
      ];
      for (const write of writes) expect([await write(), await write()]).toEqual([true, true]);
      // Nor when the file has gone on since.
      for (const write of writes) expect(await write()).toBe(true);
      expect(await files().byId(workspaceId, file.id)).toEqual(gone);
      expect(await files().versionsOf(workspaceId, file.id, null, 9)).toEqual([
        ...[conflict, second.head, file.head],
      ]);
      expect(await trailOf(stores, workspaceId)).toHaveLength(4);
    });

    it('keep the result of another write that has replaced them', async () => {
      const { stores } = opened();
      const workspaceId = await givenWorkspace(stores);
      const file = await given(workspaceId, '/a', 'one');
      const [mine, theirs] = [moved(file, { deletedAt: NOON }), moved(file, { deletedAt: NOON })];
      expect(await files().save(mine, 1, [anEvent()])).toBe(true);
      expect(await files().save(theirs, 1, [anEvent()])).toBe(false);
      const again = await given(workspaceId, '/a', 'two');
      expect(await files().insert(aFile(workspaceId, '/a'), bytesOf('/a'), [anEvent()])).toBe(false);
      expect(await files().commitVersion(withHead(again, 'x'), 9, bytesOf('x'), [anEvent()])).toBe(false);
      expect(await trailOf(stores, workspaceId)).toHaveLength(1);
    });

    it('as a deleted file are stored once', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = aFile(workspaceId, '/nowhere/a', 'late', { deletedAt: NOON });
      for (const _again of upTo(2)) expect(await files().insert(file, bytesOf('late'), [])).toBe(true);
      const deleted = { docPrefix: '', deleted: true };
      expect(await files().page(workspaceId, deleted, null, 9)).toEqual([file]);
      expect(await files().at(workspaceId, 'nowhere')).toBeNull();
    });
  });

  it('are listed by prefix, live or deleted, page by page', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    await givenFolder(opened().stores, workspaceId, '/a');
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

  it('are kept over a restart', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const file = await given(workspaceId, '/a', 'kept');
    await opened().reopen();
    expect(await files().at(workspaceId, 'a')).toEqual(file);
    expect(await blobs().read(workspaceId, file.head.sha256)).toEqual(bytesOf('kept'));
  });
});
