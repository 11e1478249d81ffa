import { newId } from '../../src/common/ids.js';
import type { SessionRecord } from '../../src/storage/records/sessions.js';
import { describeContract } from './backends.js';
import { givenWorkspace, join, upTo } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

function aSession(workspaceId: string, changes: Partial<SessionRecord> = {}): SessionRecord {
  const [id, conversationId, userId] = [newId(), newId(), 'u'];
  return {
    id,
    workspaceId,
    conversationId,
    userId,
    clientId: null,
    tools: null,
    createdAt: NOON,
    ...changes,
  };
}

describeContract('sessions', (opened) => {
  it('are found in their workspace only', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const kinds = [{}, { clientId: 'laptop' }, { tools: ['read-only', 'mv'] }];
    for (const session of kinds.map((kind) => aSession(workspaceId, kind))) {
      await stores.sessions.insert(session);
      expect(await stores.sessions.byId(workspaceId, session.id)).toEqual(session);
      expect(await stores.sessions.byId(await givenWorkspace(stores), session.id)).toBeNull();
      expect(await stores.sessions.byId('no-such-workspace', session.id)).toBeNull();
    }
    expect(await stores.sessions.byId(workspaceId, 'unknown')).toBeNull();
  });

  it('are stored once when inserted again', async () => {
    const { stores } = opened();
    const session = aSession(await givenWorkspace(stores));
    for (const _again of upTo(2)) await stores.sessions.insert(session);
    expect(await stores.sessions.ofUser(session.workspaceId, session.userId, null, 9)).toEqual([session]);
  });

  it('belong to a workspace that exists', async () => {
    const { stores } = opened();
    await expect(stores.sessions.insert(aSession('no-such-workspace'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('of a user are listed newest first, page by page', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const userId = newId();
    await join(stores, { workspaceId, userId });
    const mine = upTo(5).map((n) => aSession(workspaceId, { userId, createdAt: NOON + Math.floor(n / 2) }));
    for (const session of [...mine, aSession(workspaceId)]) await stores.sessions.insert(session);
    const newestFirst = mine.toReversed();
    const page = (beforeId: string | null, limit: number) =>
      stores.sessions.ofUser(workspaceId, userId, beforeId, limit);
    expect(await page(null, 2)).toEqual(newestFirst.slice(0, 2));
    expect(await page(newestFirst[1]!.id, 2)).toEqual(newestFirst.slice(2, 4));
    expect(await page(newestFirst[3]!.id, 2)).toEqual(newestFirst.slice(4));
    expect(await page('unknown', 2)).toEqual([]);
    expect(await stores.sessions.ofUser('no-such-workspace', userId, null, 2)).toEqual([]);
  });

  it('keep the last list of Active Files', async () => {
    const { stores } = opened();
    const session = aSession(await givenWorkspace(stores));
    const { workspaceId, id } = session;
    await stores.sessions.insert(session);
    const active = (docPath: string) => ({
      ...{ docPath, displayPath: docPath, sha256: 'a'.repeat(64), sizeBytes: 3, isDirty: true },
    });
    expect(await stores.sessions.activeFilesOf(workspaceId, id)).toEqual([]);
    await stores.sessions.replaceActiveFiles(workspaceId, id, [active('a')]);
    const newest = [active('c'), active('b')];
    await stores.sessions.replaceActiveFiles(workspaceId, id, newest);
    expect(await stores.sessions.activeFilesOf(workspaceId, id)).toEqual(newest);
    expect(await stores.sessions.activeFilesOf(await givenWorkspace(stores), id)).toEqual([]);
    expect(await stores.sessions.activeFilesOf('no-such-workspace', id)).toEqual([]);
  });

  it('that do not exist keep no Active Files, neither counted nor for a later session', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const session = aSession(workspaceId, { tools: null });
    const file = { docPath: 'a', displayPath: 'a', sha256: 'a'.repeat(64), sizeBytes: 3, isDirty: true };
    await stores.sessions.replaceActiveFiles(workspaceId, session.id, [file]);
    expect(await stores.usage.ofWorkspace(workspaceId)).toMatchObject({ bytes: 0 });
    await stores.sessions.insert(session);
    expect(await stores.sessions.activeFilesOf(workspaceId, session.id)).toEqual([]);
  });

  it('are kept over a restart', async () => {
    const session = aSession(await givenWorkspace(opened().stores));
    await opened().stores.sessions.insert(session);
    await opened().reopen();
    expect(await opened().stores.sessions.byId(session.workspaceId, session.id)).toEqual(session);
  });
});
