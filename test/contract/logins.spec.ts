import { newId } from '../../src/common/ids.js';
import type { LoginRecord, Rotation } from '../../src/storage/records/logins.js';
import { describeContract } from './backends.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

function aLogin(changes: Partial<LoginRecord> = {}): LoginRecord {
  return {
    id: newId(),
    userId: newId(),
    familyHash: 'family',
    tokenHash: 'first',
    previousHash: null,
    seed: null,
    rotatedAt: NOON,
    expiresAt: NOON + 100,
    createdAt: NOON,
    ...changes,
  };
}

const second: Rotation = {
  ...{ tokenHash: 'second', previousHash: 'first', seed: 'seed' },
  ...{ rotatedAt: NOON + 10, expiresAt: NOON + 200 },
};

describeContract('logins', (opened) => {
  it('are found by id', async () => {
    const { logins } = opened().stores;
    const login = aLogin();
    await logins.insert(login);
    expect(await logins.byId(login.id)).toEqual(login);
    expect(await logins.byId('unknown')).toBeNull();
  });

  it('replace the newest token only, once', async () => {
    const { logins } = opened().stores;
    const login = aLogin();
    await logins.insert(login);
    const rivals = [second, { ...second, tokenHash: 'stolen' }];
    const rotated = await Promise.all(rivals.map((next) => logins.rotate(login.id, 'first', next)));
    expect(rotated.filter(Boolean)).toHaveLength(1);
    const winner = rivals[rotated.indexOf(true)];
    expect(await logins.byId(login.id)).toEqual({ ...login, ...winner });
    expect(await logins.rotate('unknown', 'first', second)).toBe(false);
  });

  it('keep the previous token of a rotation, and no older one', async () => {
    const { logins } = opened().stores;
    const login = aLogin();
    await logins.insert(login);
    await logins.rotate(login.id, 'first', second);
    const instead = { ...second, tokenHash: 'instead of the second', seed: 'another', rotatedAt: NOON + 50 };
    expect(await logins.rotate(login.id, 'second', instead)).toBe(true);
    expect(await logins.byId(login.id)).toEqual({ ...login, ...instead });
    expect(await logins.rotate(login.id, 'second', { ...second, tokenHash: 'third' })).toBe(false);
  });

  it('change nothing when repeated', async () => {
    const { logins } = opened().stores;
    const login = aLogin();
    await logins.insert(login);
    await logins.rotate(login.id, 'first', second);
    await logins.insert(login);
    expect(await logins.rotate(login.id, 'first', second)).toBe(true);
    expect(await logins.byId(login.id)).toEqual({ ...login, ...second });
  });

  it('are live until they end or expire, read for many at once', async () => {
    const { logins } = opened().stores;
    const [live, ended, expired] = [aLogin(), aLogin(), aLogin({ expiresAt: NOON })];
    for (const login of [live, ended, expired]) await logins.insert(login);
    await logins.rotate(live.id, 'first', second);
    await logins.remove(ended.id);
    const ids = [live.id, ended.id, expired.id, newId()];
    expect(await logins.liveAmong(ids, NOON)).toEqual(new Set([live.id]));
    expect(await logins.liveAmong([], NOON)).toEqual(new Set());
  });

  it('end one by one', async () => {
    const { logins } = opened().stores;
    const [ended, other] = [aLogin(), aLogin()];
    await logins.insert(ended);
    await logins.insert(other);
    await logins.remove(ended.id);
    await logins.remove('unknown');
    expect(await logins.byId(ended.id)).toBeNull();
    expect(await logins.byId(other.id)).toEqual(other);
  });

  it('are removed when they have expired', async () => {
    const { logins } = opened().stores;
    const [expired, valid] = [aLogin({ expiresAt: NOON - 1 }), aLogin({ expiresAt: NOON })];
    await logins.insert(expired);
    await logins.insert(valid);
    await logins.removeExpired(NOON);
    expect(await logins.byId(expired.id)).toBeNull();
    expect(await logins.byId(valid.id)).toEqual(valid);
  });
});
