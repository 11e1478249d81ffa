import { newId } from '../../src/common/ids.js';
import type { WorkspaceRecord } from '../../src/storage/ports/workspaces.store.js';
import { describeContract } from './backends.js';
import { aWorkspace, upTo } from './records.js';
import { NOON } from '../../src/turns/turn.sample.js';

/** The workspace as its next version, with one more member. */
function withMember(workspace: WorkspaceRecord, userId: string): WorkspaceRecord {
  const members = [...workspace.members, { userId, role: 'member' as const, addedAt: NOON + 1 }];
  return { ...workspace, version: workspace.version + 1, members };
}

describeContract('workspaces', (opened) => {
  it('come back with their members in order', async () => {
    const { workspaces } = opened().stores;
    const workspace = withMember(withMember(aWorkspace({ version: -1 }), 'zoe'), 'adam');
    await workspaces.insert(workspace);
    expect(await workspaces.byId(workspace.id)).toEqual(workspace);
    expect(await workspaces.byId('unknown')).toBeNull();
  });

  it('are saved as their next version, members replaced', async () => {
    const { workspaces } = opened().stores;
    const workspace = aWorkspace();
    await workspaces.insert(workspace);
    const next = { ...withMember(workspace, newId()), name: 'Renamed' };
    expect(await workspaces.save(next, 1)).toBe(true);
    expect(await workspaces.byId(workspace.id)).toEqual(next);
    const without = { ...next, version: 3, members: next.members.slice(0, 1) };
    expect(await workspaces.save(without, 2)).toBe(true);
    expect(await workspaces.byId(workspace.id)).toEqual(without);
  });

  it('are not changed by a save where another one was faster', async () => {
    const { workspaces } = opened().stores;
    const workspace = aWorkspace();
    await workspaces.insert(workspace);
    const rivals = upTo(3).map(() => withMember(workspace, newId()));
    const saved = await Promise.all(rivals.map((next) => workspaces.save(next, 1)));
    expect(saved.filter(Boolean)).toHaveLength(1);
    expect(await workspaces.byId(workspace.id)).toEqual(rivals[saved.indexOf(true)]);
    expect(await workspaces.save(aWorkspace(), 1)).toBe(false);
  });

  it('sent again change nothing more, and say so while nobody has followed', async () => {
    const { workspaces } = opened().stores;
    const workspace = aWorkspace();
    const next = withMember(workspace, newId());
    const last = withMember(next, newId());
    for (const _again of upTo(2)) await workspaces.insert(workspace);
    expect([await workspaces.save(next, 1), await workspaces.save(next, 1)]).toEqual([true, true]);
    await workspaces.insert(workspace);
    expect(await workspaces.byId(workspace.id)).toEqual(next);
    expect(await workspaces.save(last, 2)).toBe(true);
    expect(await workspaces.save(next, 1)).toBe(false);
    expect(await workspaces.byId(workspace.id)).toEqual(last);
  });

  it('keep their members where a save fails', async () => {
    const { workspaces } = opened().stores;
    const workspace = aWorkspace();
    await workspaces.insert(workspace);
    await expect(workspaces.save(withMember(workspace, 'a\0b'), 1)).rejects.toThrow();
    expect(await workspaces.byId(workspace.id)).toEqual(workspace);
  });

  it('of a user are listed oldest first', async () => {
    const { workspaces } = opened().stores;
    const userId = newId();
    const [younger, older] = [NOON, NOON - 1].map((createdAt) =>
      withMember(aWorkspace({ createdAt, version: 0 }), userId),
    );
    for (const workspace of [younger!, older!, aWorkspace()]) await workspaces.insert(workspace);
    expect(await workspaces.ofUser(userId)).toEqual([older, younger]);
    expect(await workspaces.ofUser('nobody')).toEqual([]);
  });

  it('know the role of each member, from the moment it changes', async () => {
    const { workspaces } = opened().stores;
    const userId = newId();
    const workspace = aWorkspace();
    expect(await workspaces.roleOf(workspace.id, workspace.members[0]!.userId)).toBeNull();
    await workspaces.insert(workspace);
    expect(await workspaces.roleOf(workspace.id, workspace.members[0]!.userId)).toBe('owner');
    expect(await workspaces.roleOf(workspace.id, userId)).toBeNull();
    const joined = withMember(workspace, userId);
    await workspaces.save(joined, 1);
    expect(await workspaces.roleOf(workspace.id, userId)).toBe('member');
    await workspaces.save({ ...joined, version: 3, members: workspace.members }, 2);
    expect(await workspaces.roleOf(workspace.id, userId)).toBeNull();
  });
});
