import { describeContract } from './backends.js';
import { aUser, upTo } from './records.js';

describeContract('users', (opened) => {
  it('are found by id and by email', async () => {
    const { users } = opened().stores;
    const user = aUser({ fullName: 'Ada Lovelace 🧮' });
    expect(await users.insert(user)).toBe(true);
    expect(await users.byId(user.id)).toEqual(user);
    expect(await users.byEmail(user.email)).toEqual(user);
    expect(await users.byId('nobody')).toBeNull();
    expect(await users.byEmail('nobody@example.com')).toBeNull();
  });

  it('have a unique email: of concurrent inserts one succeeds, and none after it', async () => {
    const { users } = opened().stores;
    const rivals = upTo(3).map(() => aUser({ email: 'same@example.com' }));
    const taken = await Promise.all(rivals.map((user) => users.insert(user)));
    const winner = rivals[taken.indexOf(true)]!;
    const losers = rivals.filter((user) => user !== winner);
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await users.insert(losers[0]!)).toBe(false);
    expect(await users.byEmail('same@example.com')).toEqual(winner);
    for (const { id } of losers) expect(await users.byId(id)).toBeNull();
  });

  it('are stored once when inserted again', async () => {
    const { users } = opened().stores;
    const user = aUser();
    expect([await users.insert(user), await users.insert(user)]).toEqual([true, true]);
    expect(await users.byEmail(user.email)).toEqual(user);
  });

  it('are listed by their ids, those that exist, once each', async () => {
    const { users } = opened().stores;
    const [one, two] = [aUser(), aUser()];
    await users.insert(one);
    await users.insert(two);
    const found = await users.byIds([two.id, 'nobody', one.id, two.id]);
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([one, two]));
    expect(await users.byIds([])).toEqual([]);
  });

  it.each(['NUL \0', 'lone \ud800'])(
    'with a name that would not come back as it was are refused: %j',
    async (name) => {
      const { users } = opened().stores;
      const user = aUser({ fullName: name });
      await expect(users.insert(user)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
      expect(await users.byEmail(user.email)).toBeNull();
    },
  );

  it('are kept over a restart', async () => {
    const user = aUser();
    await opened().stores.users.insert(user);
    await opened().reopen();
    expect(await opened().stores.users.byId(user.id)).toEqual(user);
  });
});
