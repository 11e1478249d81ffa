import { newId } from '../../src/common/ids.js';
import { describeContract } from './backends.js';
import { aWorkspace, upTo, withMember } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

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

  it('of a user are listed page by page: those that the user made, then the others, each oldest first', async () => {
    const { workspaces } = opened().stores;
    const userId = newId();
    const given = [NOON, NOON - 1, NOON, NOON - 1].map((createdAt, at) =>
      withMember(aWorkspace({ createdAt, createdBy: at < 2 ? newId() : userId, version: 0 }), userId),
    );
    for (const workspace of [...given, aWorkspace()]) await workspaces.insert(workspace);
    const ids = [3, 2, 1, 0].map((at) => given[at]!.id);
    const found = await workspaces.summariesOf(userId, null, 9);
    expect(found.map(({ id }) => id)).toEqual(ids);
    const rest = await workspaces.summariesOf(userId, ids[1]!, 1);
    expect(rest.map(({ id }) => id)).toEqual([ids[2]]);
    expect(await workspaces.summariesOf(userId, ids[3]!, 9)).toEqual([]);
    expect(await workspaces.summariesOf('nobody', null, 9)).toEqual([]);
  });

  it('are told to a member without the others, but for the first owners', async () => {
    const { workspaces } = opened().stores;
    const workspace = withMember(aWorkspace({ createdBy: 'maker', version: 0 }), 'zoe');
    const owners = upTo(12).map((at) => ({ userId: `o${at}`, role: 'owner' as const, addedAt: NOON }));
    workspace.members.push(...owners);
    await workspaces.insert(workspace);
    const { id, name, approvals, createdAt, createdBy } = workspace;
    const summary = { id, name, approvals, createdAt, createdBy, role: 'member' };
    const first = [workspace.members[0]!.userId, ...owners.slice(0, 9).map(({ userId }) => userId)];
    expect(await workspaces.summaryOf(id, 'zoe')).toEqual({ ...summary, owners: first });
    expect(await workspaces.summariesOf('zoe', null, 9)).toContainEqual({ ...summary, owners: first });
    expect(await workspaces.summaryOf(id, 'nobody')).toBeNull();
    expect(await workspaces.summaryOf('unknown', 'zoe')).toBeNull();
  });

  it('keep who was removed, by whom, until that is settled; a later removal stays', async () => {
    const { workspaces } = opened().stores;
    const workspace = withMember(aWorkspace({ version: 0 }), 'zoe');
    await workspaces.insert(workspace);
    const removal = { workspaceId: workspace.id, userId: 'zoe', byUserId: 'ada', removedAt: NOON };
    const unsettled = async () =>
      (await workspaces.unsettled(1_000)).filter(({ workspaceId }) => workspaceId === workspace.id);
    const without = { ...workspace, version: 2, members: workspace.members.slice(0, 1) };
    expect(await workspaces.save(without, 9, removal)).toBe(false);
    expect(await unsettled()).toEqual([]);
    expect(await workspaces.save(without, 1, removal)).toBe(true);
    expect(await unsettled()).toEqual([removal]);
    await workspaces.save(withMember(without, 'zoe'), 2);
    const again = { ...removal, byUserId: 'zoe', removedAt: NOON + 5 };
    await workspaces.save({ ...without, version: 4 }, 3, again);
    await workspaces.settled(removal);
    expect(await unsettled()).toEqual([again]);
    await workspaces.settled(again);
    expect(await unsettled()).toEqual([]);
  });

  it('are counted for who made them and is still a member, and of each maker for who was added', async () => {
    const { workspaces } = opened().stores;
    const [userId, makerId] = [newId(), newId()];
    const counts = async () => [
      await workspaces.countMadeBy(userId, userId),
      await workspaces.countMadeBy(makerId, userId),
      await workspaces.countMadeBy(userId, makerId),
    ];
    expect(await counts()).toEqual([0, 0, 0]);
    const own = withMember(aWorkspace({ createdBy: userId, version: 0 }), userId);
    for (const createdBy of [userId, makerId, makerId, newId()]) {
      await workspaces.insert(withMember(aWorkspace({ createdBy, version: 0 }), userId));
    }
    await workspaces.insert(own);
    await workspaces.insert(aWorkspace({ createdBy: userId }));
    expect(await counts()).toEqual([2, 2, 0]);
    const members = own.members.filter((member) => member.userId !== userId);
    await workspaces.save({ ...own, version: own.version + 1, members }, own.version);
    expect(await counts()).toEqual([1, 2, 0]);
  });

  it('tell of which tools a person is asked', async () => {
    const { workspaces } = opened().stores;
    const workspace = aWorkspace({ approvals: ['rm'] });
    await workspaces.insert(workspace);
    expect(await workspaces.approvalsOf(workspace.id)).toEqual(['rm']);
    expect(await workspaces.approvalsOf('unknown')).toBeNull();
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
