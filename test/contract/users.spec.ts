import { describeContract } from './backends.js';
import { aUser } from './records.js';

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

  it('have an email each: the second who asks for it gets nothing, also at the same time', async () => {
    const { users } = opened().stores;
    const [first, second] = [aUser({ email: 'same@example.com' }), aUser({ email: 'same@example.com' })];
    expect(await Promise.all([users.insert(first), users.insert(second)])).toEqual([true, false]);
    expect(await users.byEmail('same@example.com')).toEqual(first);
    expect(await users.byId(second.id)).toBeNull();
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

  it('outlive the server', async () => {
    const user = aUser();
    await opened().stores.users.insert(user);
    await opened().reopen();
    expect(await opened().stores.users.byId(user.id)).toEqual(user);
  });
});
