import type { Stores } from './backends.js';
import { randomFrom, withFaults } from './faults.js';
import { aUser } from './records.js';

/** Stores of which only users can be written, and a log of what reaches them. */
function logged(): { stores: Stores; log: string[] } {
  const log: string[] = [];
  const users = {
    insert: async (user: { id: string }) => (log.push(user.id), log.length),
    byId: async (id: string) => (log.push(`read ${id}`), null),
  };
  return { stores: { users } as unknown as Stores, log };
}

describe('a bad line', () => {
  const users = ['a', 'b', 'c', 'd'].map((id) => aUser({ id }));

  it('takes every write twice and gives the second answer, and every read once', async () => {
    const { stores, log } = logged();
    const far = withFaults(stores, randomFrom(1));
    expect(await far.users.insert(users[0]!)).toBe(2);
    await far.users.byId('a');
    expect(log).toEqual(['a', 'a', 'read a']);
  });

  it('brings what was sent together in another order, in the same one for the same seed', async () => {
    const orders: string[] = [];
    for (const seed of [1, 1, 2, 3, 4, 5]) {
      const { stores, log } = logged();
      const far = withFaults(stores, randomFrom(seed));
      await Promise.all(users.map((user) => far.users.insert(user)));
      orders.push(log.join(''));
    }
    const [first, again, ...others] = orders;
    expect(again).toBe(first);
    expect(new Set([first, ...others]).size).toBeGreaterThan(2);
    expect([first, ...others]).not.toContain('aabbccdd');
  });

  it('gives a fault as it is, and does not try again', async () => {
    let calls = 0;
    const insert = () => Promise.reject(new Error(`call ${(calls += 1)}`));
    const far = withFaults({ users: { insert } } as unknown as Stores, randomFrom(1));
    await expect(far.users.insert(users[0]!)).rejects.toThrow('call 1');
  });
});
