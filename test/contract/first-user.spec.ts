import { describeContract } from './backends.js';
import { aUser, upTo } from './records.js';

describeContract('the first user', (opened) => {
  it('is one of those who come at the same time, and nobody after', async () => {
    const { users } = opened().stores;
    expect(await users.isEmpty()).toBe(true);
    const rivals = upTo(5).map(() => aUser());
    const taken = await Promise.all(rivals.map((user) => users.insertFirst(user)));
    const winner = rivals[taken.indexOf(true)]!;
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await users.isEmpty()).toBe(false);
    expect(await users.insertFirst(aUser())).toBe(false);
    expect(await users.insertFirst(winner)).toBe(true);
    expect(await users.byIds(rivals.map(({ id }) => id))).toEqual([winner]);
  });
});
