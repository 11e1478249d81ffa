import { sha256 } from '@patchbay/protocol/hash';
import type { FileRecord } from '../../src/storage/ports/files.store.js';
import { describeContract } from './backends.js';
import { aFile, aVersion, bytesOf } from './file-records.js';
import { anEvent, givenWorkspace } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

const HOUR = 3_600_000;
const ALL = 10_000;

describeContract('blobs', (opened) => {
  const blobs = () => opened().stores.blobs;
  const put = (workspaceId: string, text: string, at = NOON) =>
    blobs().put({ workspaceId, userId: 'u' }, sha256(text), bytesOf(text), at);
  const refer = (workspaceId: string, text: string) =>
    opened().stores.files.insert(aFile(workspaceId, `/${text}`, text), null, []);
  /** Which of the texts the workspace still holds. */
  const left = async (workspaceId: string, ...texts: string[]): Promise<string[]> => {
    const found = await Promise.all(texts.map((text) => blobs().read(workspaceId, sha256(text))));
    return texts.filter((_, at) => found[at] !== null);
  };

  it('are stored once in a workspace, with any bytes', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 10, 0]), Buffer.alloc(200_000, 7)]) {
      const hash = sha256(bytes);
      expect(await blobs().missing(workspaceId, [hash])).toEqual([hash]);
      await blobs().put({ workspaceId, userId: 'u' }, hash, bytes, NOON);
      await blobs().put({ workspaceId, userId: 'u' }, hash, bytes, NOON);
      expect(await blobs().missing(workspaceId, [hash])).toEqual([]);
      expect(bytes.equals((await blobs().read(workspaceId, hash))!)).toBe(true);
    }
  });

  it('are stored before their references', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const file = aFile(workspaceId, '/a', 'text');
    await expect(opened().stores.files.insert(file, null, [anEvent()])).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await opened().stores.files.at(workspaceId, 'a')).toBeNull();
    await put(workspaceId, 'text');
    expect(await opened().stores.files.insert(file, null, [])).toBe(true);
  });

  it('are removed only when they are old and unreferenced', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    for (const text of ['old', 'renewed', 'used']) await put(workspaceId, text);
    await put(workspaceId, 'renewed', NOON + HOUR);
    await refer(workspaceId, 'used');
    await blobs().mark(NOON + 1, ALL, NOON + HOUR);
    await blobs().removeMarked(NOON + 2 * HOUR, ALL);
    expect(await left(workspaceId, 'old', 'renewed', 'used')).toEqual(['renewed', 'used']);
  });

  it('are removed some time after they were marked, and can be stored again before that', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const hash = sha256('going');
    await put(workspaceId, 'going');
    await blobs().mark(NOON, ALL, NOON + HOUR);
    expect(await blobs().missing(workspaceId, [hash])).toEqual([]);
    await blobs().mark(NOON + 1, ALL, NOON + HOUR);
    expect(await blobs().missing(workspaceId, [hash])).toEqual([hash]);
    await blobs().removeMarked(NOON + HOUR, ALL);
    expect(await left(workspaceId, 'going')).toEqual(['going']);
    await blobs().removeMarked(NOON + HOUR + 1, ALL);
    expect(await left(workspaceId, 'going')).toEqual([]);
  });

  it('lose their mark when they are stored again or referenced by a version', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const file = aFile(workspaceId, '/f', 'first');
    await opened().stores.files.insert(file, bytesOf('first'), []);
    for (const text of ['put', 'inserted', 'committed', 'kept', 'left']) await put(workspaceId, text);
    await blobs().mark(NOON + 1, ALL, NOON + HOUR);
    await put(workspaceId, 'put', NOON + HOUR);
    await refer(workspaceId, 'inserted');
    const next: FileRecord = {
      ...file,
      revision: 2,
      lastNumber: 2,
      head: aVersion('committed', { number: 2 }),
    };
    expect(await opened().stores.files.commitVersion(next, 1, null, [])).toBe(true);
    const kept = aVersion('kept', { number: 3, conflict: true });
    const beside = { ...next, revision: 3, lastNumber: 3 };
    expect(await opened().stores.files.keepConflict(beside, 2, kept, null, [])).toBe(true);
    await blobs().removeMarked(NOON + 2 * HOUR, ALL);
    const texts = ['put', 'inserted', 'committed', 'kept', 'left'];
    expect(await left(workspaceId, ...texts)).toEqual(texts.slice(0, -1));
    // What was put again counts from then on.
    await blobs().mark(NOON + HOUR, ALL, NOON + 2 * HOUR);
    await blobs().removeMarked(NOON + 3 * HOUR, ALL);
    expect(await left(workspaceId, 'put')).toEqual(['put']);
  });

  it('are removed up to a limit at a time', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const texts = ['one', 'two', 'three', 'four', 'five'];
    for (const text of texts) await put(workspaceId, text);
    while (await blobs().mark(NOON + 1, 2, NOON + HOUR));
    expect(await left(workspaceId, ...texts)).toEqual(texts);
    while (await blobs().removeMarked(NOON + 2 * HOUR, 2));
    expect(await left(workspaceId, ...texts)).toEqual([]);
  });
});
