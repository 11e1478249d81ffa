import { newId } from '../../src/common/ids.js';
import type { RootRecord } from '../../src/storage/records/roots.js';
import { NOON } from '../../src/turns/state/turn.sample.js';
import { describeContract } from './backends.js';
import { givenWorkspace } from './records.js';

function aRoot(workspaceId: string, docPath = 'proj', changes: Partial<RootRecord> = {}): RootRecord {
  const name = docPath.toUpperCase();
  return { workspaceId, docPath, name, rootId: newId(), userId: 'ada', claimedAt: NOON, ...changes };
}

describeContract('roots', (opened) => {
  it('belong to the first claim of their name, which later claims are told [ROOT-1]', async () => {
    const { stores } = opened();
    const first = aRoot(await givenWorkspace(stores));
    expect(await stores.roots.claim(first)).toEqual(first);
    const later = aRoot(first.workspaceId, 'proj', { userId: 'bob', claimedAt: NOON + 1 });
    for (const claim of [later, first]) expect(await stores.roots.claim(claim)).toEqual(first);
  });

  it('belong to one of several concurrent claims', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const claims = ['a', 'b', 'c'].map((userId) => aRoot(workspaceId, 'proj', { userId }));
    const results = await Promise.all(claims.map((claim) => stores.roots.claim(claim)));
    expect(claims).toContainEqual(results[0]);
    expect(results).toEqual([results[0], results[0], results[0]]);
  });

  it('can be removed, but not with an earlier claim', async () => {
    const { stores } = opened();
    const first = aRoot(await givenWorkspace(stores));
    const other = aRoot(first.workspaceId, 'other');
    for (const root of [first, other]) await stores.roots.claim(root);
    await stores.roots.remove(first);
    expect(await stores.roots.ofWorkspace(first.workspaceId)).toEqual([other]);
    const [second, again] = [aRoot(first.workspaceId), { ...other, claimedAt: NOON + 1 }];
    expect(await stores.roots.claim(second)).toEqual(second);
    await stores.roots.remove(first);
    await stores.roots.remove(again);
    expect(await stores.roots.ofWorkspace(first.workspaceId)).toEqual([other, second]);
  });

  it('are listed by docPath, those of one workspace', async () => {
    const { stores } = opened();
    const [here, there] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const [b, a] = [await stores.roots.claim(aRoot(here, 'b')), await stores.roots.claim(aRoot(here, 'a'))];
    await stores.roots.claim(aRoot(there, 'a'));
    expect(await stores.roots.ofWorkspace(here)).toEqual([a, b]);
    expect(await stores.roots.ofWorkspace('no-such-workspace')).toEqual([]);
  });
});
