import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../../src/common/ids.js';
import type { Usage } from '../../src/storage/ports/usage.store.js';
import { NOON } from '../../src/turns/state/turn.sample.js';
import { describeContract } from './backends.js';
import { aFile, aFolder, aVersion, bytesOf, moved, withHead } from './file-records.js';
import { aWorkspace, withMember } from './records.js';

const NOTHING: Usage = { bytes: 0, files: 0, versions: 0, sessions: 0 };

describeContract('usage', (opened) => {
  /** A workspace, and what it and each user has. */
  async function fixture() {
    const { stores } = opened();
    const [ada, ben] = [newId(), newId()];
    const workspace = withMember(withMember(aWorkspace({ version: 0 }), ada), ben);
    await stores.workspaces.insert(workspace);
    const { usage } = stores;
    const workspaceId = workspace.id;
    const all = async () => [
      ...[await usage.ofWorkspace(workspaceId), await usage.ofUser(ada), await usage.ofUser(ben)],
    ];
    return { ...stores, workspace, workspaceId, ada, ben, all };
  }
  const by = (author: string, text: string) => aVersion(text, { author });

  it('is nothing at first', async () => {
    expect(await (await fixture()).all()).toEqual([NOTHING, NOTHING, NOTHING]);
  });

  it('counts a file for its holder, a version for its author, bytes for who brought them, each write once', async () => {
    const { files, workspaceId, ada, ben, all } = await fixture();
    const file = aFile(workspaceId, '/a', 'abc', { holder: ada, head: by(ada, 'abc') });
    await files.insert(file, bytesOf('abc'), []);
    await files.insert(file, bytesOf('abc'), []);
    const second = { ...withHead(file, 'defgh'), head: { ...by(ben, 'defgh'), number: 2 } };
    await files.commitVersion(second, 1, bytesOf('defgh'), []);
    const same = { ...withHead(second, 'abc'), head: { ...by(ben, 'abc'), number: 3 } };
    await files.commitVersion(same, 2, null, []);
    const kept = { ...by(ben, 'xy'), number: 4, conflict: true };
    await files.keepConflict(moved(same, { lastNumber: 4 }), 3, kept, bytesOf('xy'), []);
    expect(await all()).toEqual([
      { bytes: 10, files: 1, versions: 4, sessions: 0 },
      { bytes: 3, files: 1, versions: 1, sessions: 0 },
      { bytes: 7, files: 0, versions: 3, sessions: 0 },
    ]);
  });

  it('counts no file that was refused, deleted, or only kept; one that is brought back for who did', async () => {
    const { files, workspaceId, ada, ben, all } = await fixture();
    const file = aFile(workspaceId, '/a', 'abc', { holder: ada, head: by(ada, 'abc') });
    await files.insert(file, bytesOf('abc'), []);
    await files.insert(aFile(workspaceId, '/a', 'no', { holder: ben }), bytesOf('no'), []);
    const alone = { holder: ben, head: by(ben, 'abc'), deletedAt: NOON };
    await files.insert(aFile(workspaceId, '/b', 'abc', alone), null, []);
    expect((await all()).map((usage) => usage.files)).toEqual([1, 1, 0]);
    const deleted = moved(file, { deletedAt: NOON });
    await files.save(deleted, 1, []);
    expect((await all()).map((usage) => usage.files)).toEqual([0, 0, 0]);
    await files.save(moved(deleted, { deletedAt: null, holder: ben }), 2, []);
    expect((await all()).map((usage) => usage.files)).toEqual([1, 0, 1]);
    expect((await all()).map((usage) => usage.versions)).toEqual([2, 1, 1]);
  });

  it('counts for a user what they wrote in the workspaces of others only while they are a member', async () => {
    const { workspaces, files, workspace, workspaceId, ben, all } = await fixture();
    const file = aFile(workspaceId, '/a', 'abc', { holder: ben, head: by(ben, 'abc') });
    await files.insert(file, bytesOf('abc'), []);
    const written = { bytes: 3, files: 1, versions: 1, sessions: 0 };
    expect(await all()).toEqual([written, NOTHING, written]);
    const { version } = workspace;
    const members = workspace.members.filter(({ userId }) => userId !== ben);
    await workspaces.save({ ...workspace, members, version: version + 1 }, version);
    expect(await all()).toEqual([written, NOTHING, NOTHING]);
    await workspaces.save({ ...workspace, version: version + 2 }, version + 1);
    expect(await all()).toEqual([written, NOTHING, written]);
  });

  it('counts for its maker what they wrote in a workspace, also when they have left it', async () => {
    const { workspaces, files, usage } = await fixture();
    const maker = newId();
    const workspace = aWorkspace({ createdBy: maker });
    await workspaces.insert(workspace);
    const file = aFile(workspace.id, '/a', 'abc', { holder: maker, head: by(maker, 'abc') });
    await files.insert(file, bytesOf('abc'), []);
    expect(await usage.ofUser(maker)).toMatchObject({ bytes: 3, files: 1 });
  });

  it('counts bytes that a former member left for the maker of the workspace, until they join again', async () => {
    const { workspaces, files, blobs, usage } = await fixture();
    const [maker, owner, leaver] = [newId(), newId(), newId()];
    const made = aWorkspace({ createdBy: maker, members: [{ userId: maker, role: 'owner', addedAt: NOON }] });
    const full = withMember(withMember({ ...made, version: 0 }, owner), leaver);
    await workspaces.insert({ ...full, version: 1 });
    const add = (path: string, text: string, author: string) =>
      files.insert(aFile(made.id, path, text, { holder: author, head: by(author, text) }), bytesOf(text), []);
    await add('/m', 'mm', maker);
    await add('/o', 'ooo', owner);
    await add('/l', 'llll', leaver);
    await blobs.put({ workspaceId: made.id, userId: leaver }, sha256('loose'), bytesOf('loose'), NOON);
    const bytes = async () =>
      (await Promise.all([maker, owner, leaver].map((id) => usage.ofUser(id)))).map((one) => one.bytes);
    const present = async (version: number, ...ids: string[]) => {
      const members = full.members.filter(({ userId }) => ids.includes(userId));
      expect(await workspaces.save({ ...full, members, version: version + 1 }, version)).toBe(true);
    };
    expect(await bytes()).toEqual([2, 3, 9]);
    await present(1, maker, owner);
    expect(await bytes()).toEqual([11, 3, 0]);
    expect(await usage.ofUser(maker)).toMatchObject({ files: 1, versions: 1, sessions: 0 });
    await present(2, maker, owner, leaver);
    expect(await bytes()).toEqual([2, 3, 9]);
    // The maker is charged after leaving too: they made the workspace.
    await present(3, owner);
    expect(await bytes()).toEqual([11, 3, 0]);
    await blobs.mark(NOON + 1, 10_000, NOON + 2);
    await blobs.removeMarked(NOON + 3, 10_000);
    expect(await bytes()).toEqual([6, 3, 0]);
  });

  it('counts a folder while it is there, and that it ever was', async () => {
    const { files, workspaceId, ada, all } = await fixture();
    const folder = { ...aFolder(workspaceId, '/f'), holder: ada };
    await files.insertFolder(folder, []);
    expect((await all())[1]).toEqual({ ...NOTHING, files: 1, versions: 1 });
    await files.removeFolder(folder, NOON, []);
    await files.removeFolder(folder, NOON, []);
    expect((await all())[1]).toEqual({ ...NOTHING, versions: 1 });
    expect((await all())[0]).toEqual({ ...NOTHING, versions: 1 });
  });

  it('counts bytes that nothing refers to until they are removed', async () => {
    const { blobs, workspaceId, ada, ben, all } = await fixture();
    await blobs.put({ workspaceId, userId: ada }, sha256('loose'), bytesOf('loose'), NOON);
    await blobs.put({ workspaceId, userId: ben }, sha256('loose'), bytesOf('loose'), NOON);
    expect((await all()).map(({ bytes }) => bytes)).toEqual([5, 5, 0]);
    await blobs.mark(NOON + 1, 10_000, NOON + 2);
    await blobs.removeMarked(NOON + 3, 10_000);
    expect(await all()).toEqual([NOTHING, NOTHING, NOTHING]);
  });

  it('counts sessions with their tools, and of lists of Active Files the last one', async () => {
    const { sessions, workspaceId, ada, all } = await fixture();
    const names = { conversationId: 'v', clientId: null, tools: ['read'], createdAt: NOON };
    const session = { id: newId(), workspaceId, userId: ada, ...names };
    await sessions.insert(session);
    await sessions.insert(session);
    expect((await all())[1]).toEqual({ ...NOTHING, sessions: 1, bytes: 8 });
    const file = { docPath: 'ä', displayPath: 'ä', sha256: 'x', sizeBytes: 1, isDirty: false };
    await sessions.replaceActiveFiles(workspaceId, session.id, [file, { ...file, docPath: 'b' }]);
    await sessions.replaceActiveFiles(workspaceId, session.id, [file]);
    expect((await all())[1]!.bytes).toBe(8 + Buffer.byteLength(JSON.stringify([file])));
  });
});
