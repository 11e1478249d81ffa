import type { Role } from '@patchbay/protocol';
import { InProcessBus } from '../events/in-process-bus.js';
import type { WorkspaceStore } from '../storage/ports/workspaces.store.js';
import { Memberships } from './memberships.js';

const BEN = { workspaceId: 'w', userId: 'ben' };
const REFUSED = { code: 'FORBIDDEN' };

describe('memberships', () => {
  let role: Role | null;
  let reads: number;
  let now: number;
  let bus: InProcessBus;
  let memberships: Memberships;
  beforeEach(() => {
    [role, reads, now, bus] = ['member', 0, 0, new InProcessBus()];
    const roleOf = (): Promise<Role | null> => {
      reads += 1;
      return Promise.resolve(role);
    };
    memberships = new Memberships({ roleOf } as unknown as WorkspaceStore, { elapsed: () => now }, bus);
  });

  it('are read from the store when something begins, and reused for 4 s after that', async () => {
    await memberships.ask(BEN);
    role = null;
    now = 3_999;
    expect(await memberships.require(BEN)).toBe('member');
    expect(reads).toBe(1);
    now = 4_000;
    await expect(memberships.require(BEN)).rejects.toMatchObject(REFUSED);
    expect(reads).toBe(2);
  });

  it('are read again whenever something else begins', async () => {
    await memberships.ask(BEN);
    role = null;
    await expect(memberships.ask(BEN)).rejects.toMatchObject(REFUSED);
  });

  it.each([
    ['a change on this node', () => memberships.changed(BEN)],
    ['a message of another', () => bus.publish({ type: 'member_removed', ...BEN })],
  ])('are dropped from the cache by %s, also during a read', async (_, drop) => {
    await memberships.ask(BEN);
    role = null;
    drop();
    await expect(memberships.require(BEN)).rejects.toMatchObject(REFUSED);
    role = 'member';
    const pending = memberships.ask(BEN);
    role = null;
    drop();
    await expect(pending).rejects.toMatchObject(REFUSED);
  });

  it('that were added or raised since are found: a refusal is never cached', async () => {
    role = null;
    await expect(memberships.ask(BEN)).rejects.toMatchObject(REFUSED);
    role = 'member';
    expect(await memberships.require(BEN)).toBe('member');
    await expect(memberships.require(BEN, 'owner')).rejects.toMatchObject(REFUSED);
    role = 'owner';
    expect(await memberships.require(BEN, 'owner')).toBe('owner');
  });
});
