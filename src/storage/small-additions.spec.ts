import { SmallAdditions } from './small-additions.js';

const KIB = 1024;
const anAddition = { workspace: 1, userId: 'ada', hour: 10, bytes: KIB };

describe('Small additions to the bytes of turns', () => {
  it('wait until 64 KiB of one user, workspace and hour have come together', () => {
    const small = new SmallAdditions<number>();
    for (let n = 0; n < 63; n += 1) expect(small.add(anAddition)).toEqual([]);
    expect(small.add({ ...anAddition, hour: 11 })).toEqual([]);
    expect(small.add(anAddition)).toEqual([{ ...anAddition, bytes: 64 * KIB }]);
    expect([...small.ofUser('ada')]).toEqual([{ ...anAddition, hour: 11 }]);
  });

  it('are seen while they wait, by user and by workspace', () => {
    const small = new SmallAdditions<number>();
    const other = { ...anAddition, userId: 'ben' };
    small.add(anAddition);
    small.add(other);
    small.add({ ...other, workspace: 2 });
    expect([...small.ofUser('ben')]).toEqual([other, { ...other, workspace: 2 }]);
    expect([...small.ofWorkspace(1)]).toEqual([anAddition, other]);
    expect([...small.ofWorkspace(3)]).toEqual([]);
  });

  it('are no more than ten thousand: the oldest is written then', () => {
    const small = new SmallAdditions<number>();
    for (let n = 0; n < 10_000; n += 1) expect(small.add({ ...anAddition, workspace: n })).toEqual([]);
    expect(small.add({ ...anAddition, workspace: 10_000 })).toEqual([{ ...anAddition, workspace: 0 }]);
  });

  it('are forgotten two days later', () => {
    const small = new SmallAdditions<number>();
    small.add(anAddition);
    small.add({ ...anAddition, hour: 57 });
    expect([...small.ofUser('ada')]).toHaveLength(2);
    small.add({ ...anAddition, hour: 58 });
    expect([...small.ofUser('ada')].map(({ hour }) => hour)).toEqual([57, 58]);
  });
});
