import type { KeyClaim } from '../../src/storage/records/idempotency-keys.js';
import { describeContract } from './backends.js';
import { givenWorkspace } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

const aClaim = (workspaceId: string, changes: Partial<KeyClaim> = {}): KeyClaim => ({
  workspaceId,
  userId: 'ada',
  key: 'key',
  sessionId: 'session-1',
  turnId: 'turn-1',
  claimedAt: NOON,
  ...changes,
});

describeContract('idempotency keys', (opened) => {
  it('name the turn that they were claimed for, for one user in one workspace [TURN-3]', async () => {
    const { stores } = opened();
    const claim = aClaim(await givenWorkspace(stores));
    const { workspaceId, userId, key } = claim;
    expect(await stores.keys.find(workspaceId, userId, key, 0)).toBeNull();
    expect(await stores.keys.claim(claim, 0)).toEqual(claim);
    expect(await stores.keys.find(workspaceId, userId, key, 0)).toEqual(claim);
    expect(await stores.keys.find(workspaceId, 'bob', key, 0)).toBeNull();
    expect(await stores.keys.find(workspaceId, userId, 'Key', 0)).toBeNull();
    expect(await stores.keys.find(await givenWorkspace(stores), userId, key, 0)).toBeNull();
    expect(await stores.keys.find('no-such-workspace', userId, key, 0)).toBeNull();
  });

  it('stay with the first claim, which every later one is told', async () => {
    const { stores } = opened();
    const first = aClaim(await givenWorkspace(stores));
    const others = [
      aClaim(first.workspaceId, { turnId: 'turn-2', claimedAt: NOON + 1 }),
      aClaim(first.workspaceId, { sessionId: 'session-2', claimedAt: NOON + 2 }),
    ];
    await stores.keys.claim(first, 0);
    for (const claim of [...others, first]) expect(await stores.keys.claim(claim, 0)).toEqual(first);
  });

  it('go to one of several claims that come at once', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const claims = ['a', 'b', 'c'].map((turnId) => aClaim(workspaceId, { turnId }));
    const results = await Promise.all(claims.map((claim) => stores.keys.claim(claim, 0)));
    expect(claims).toContainEqual(results[0]);
    expect(results).toEqual([results[0], results[0], results[0]]);
  });

  it('that have expired are claimed anew [TURN-3]', async () => {
    const { stores } = opened();
    const old = aClaim(await givenWorkspace(stores));
    await stores.keys.claim(old, 0);
    const next = aClaim(old.workspaceId, { turnId: 'turn-2', claimedAt: NOON + 100 });
    expect(await stores.keys.claim(next, NOON)).toEqual(old);
    expect(await stores.keys.find(old.workspaceId, old.userId, old.key, NOON + 1)).toBeNull();
    expect(await stores.keys.claim(next, NOON + 1)).toEqual(next);
    expect(await stores.keys.find(old.workspaceId, old.userId, old.key, NOON + 1)).toEqual(next);
  });

  it('are removed once they have expired', async () => {
    const { stores } = opened();
    const [old, young] = [
      aClaim(await givenWorkspace(stores)),
      aClaim(await givenWorkspace(stores), { claimedAt: NOON + 10 }),
    ];
    for (const claim of [old, young]) await stores.keys.claim(claim, 0);
    await stores.keys.removeExpired(NOON + 10);
    expect(await stores.keys.find(old.workspaceId, old.userId, old.key, 0)).toBeNull();
    expect(await stores.keys.find(young.workspaceId, young.userId, young.key, 0)).toEqual(young);
  });
});
