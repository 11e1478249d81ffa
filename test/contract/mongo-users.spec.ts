import { jest } from '@jest/globals';
import { getModelToken } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { suiteFixture } from '../support/fixtures.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { storesOf } from './backends.js';
import { openMongoApp } from './mongo-app.js';
import { aUser } from './records.js';

describeOnMongo('the first user on MongoDB', () => {
  const mongo = suiteFixture(() => openMongoApp());

  it('whose server died before it was stored is stored by whoever comes next', async () => {
    const { users } = mongo.stores;
    const stored = mongo.part<Model<object>>(getModelToken('users'));
    jest.spyOn(stored.prototype, 'save').mockRejectedValueOnce(new Error('killed'));
    const [first, second] = [aUser(), aUser()];
    await expect(users.insertFirst(first)).rejects.toThrow('killed');
    expect(await users.byId(first.id)).toBeNull();
    const other = await mongo.another();
    expect(await storesOf(other).users.insertFirst(second)).toBe(false);
    expect(await users.byId(first.id)).toEqual(first);
    await other.close();
  });
});
