import { jest } from '@jest/globals';
import { DomainError } from '../common/domain-error.js';
import { RateWindows } from '../limits/rate-windows.js';
import { FailedLogins } from './failed-logins.js';

const EMAIL = 'ada@example.com';
const HOME = '198.51.100.1';
const MINUTE = 60_000;

describe('failed logins', () => {
  let now: number;
  let logins: FailedLogins;
  let last: number;
  beforeEach(() => {
    now = 0;
    last = 0;
    logins = new FailedLogins(new RateWindows({ elapsed: () => now }));
  });

  const anAddress = (): string => `10.0.${(last += 1) >> 8}.${last & 255}`;
  /** Returns `found`, `wrong`, or the seconds until the next attempt. */
  async function attempt(isRight: boolean, address: string, email = EMAIL): Promise<string | number> {
    try {
      const check = (): Promise<true | null> =>
        new Promise((resolve) => setImmediate(() => resolve(isRight || null)));
      return (await logins.attempt(email, address, check)) ? 'found' : 'wrong';
    } catch (error) {
      if (error instanceof DomainError && error.code === 'RATE_LIMITED')
        return error.extras.retryAfterSeconds!;
      throw error;
    }
  }
  const attempts = (count: number, isRight: boolean, address: string): Promise<(string | number)[]> =>
    Promise.all(Array.from({ length: count }, () => attempt(isRight, address)));
  const having = (outcomes: (string | number)[], outcome: string): number =>
    outcomes.filter((one) => one === outcome).length;

  it('from many addresses are limited per account, except at addresses that its owner used [REQ-23]', async () => {
    expect(await attempt(true, HOME)).toBe('found');
    const outcomes = [];
    for (let guessers = 0; guessers < 20; guessers += 1)
      outcomes.push(...(await attempts(10, false, anAddress())));
    expect(having(outcomes, 'wrong')).toBe(100);
    expect(await attempt(true, anAddress())).toBe(15 * 60);
    expect(await attempt(true, HOME)).toBe('found');
    now += 15 * MINUTE;
    expect(await attempt(true, anAddress())).toBe('found');
  });

  it('in parallel from many addresses do not exceed the limit of the account [REQ-23]', async () => {
    const all = await Promise.all(Array.from({ length: 300 }, () => attempt(false, anAddress())));
    expect(having(all, 'wrong')).toBe(100);
  });

  /** Enough wrong passwords that every further login from the address has to queue. */
  const fail = (address: string, count = 100): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, (_, n) => attempt(false, address, `${address} ${n}@b.com`)));
  /** Runs parallel guesses from these addresses, each for another account, and returns the settled ones. */
  async function guessesAtOnce(count: number, address: () => string): Promise<(string | number)[]> {
    const outcomes: (string | number)[] = [];
    for (let n = 0; n < count; n += 1)
      void attempt(false, address(), `g${n}@b.com`).then((outcome) => outcomes.push(outcome));
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    return outcomes;
  }

  it('for many accounts slow down the address, where the right password still succeeds [REQ-23]', async () => {
    const shared = anAddress();
    await fail(shared);
    expect(await guessesAtOnce(3, () => shared)).toEqual(['wrong']);
    expect(await attempt(true, shared)).toBe('found');
    expect(await guessesAtOnce(1, () => shared)).toEqual([2]);
  });

  it('queue at most 30 attempts per slowed-down address; known users do not queue [REQ-23]', async () => {
    const shared = anAddress();
    logins.recordOwner(EMAIL, shared);
    await fail(shared);
    expect(await guessesAtOnce(40, () => shared)).toEqual([...Array<number>(9).fill(30), 'wrong']);
    expect(await attempt(true, shared, 'new@b.com')).toBe(30);
    expect(await attempt(true, shared)).toBe('found');
  });

  it('take one queue slot per account and address, and a slot later if the queue was full [REQ-23]', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const shared = anAddress();
      await fail(shared);
      await guessesAtOnce(30, () => shared);
      const twice = [attempt(true, shared, 'two@b.com'), attempt(true, shared, 'two@b.com')];
      expect(await twice[1]).toBe(1);
      expect(await attempt(true, shared, 'late@b.com')).not.toBe('found');
      await jest.advanceTimersByTimeAsync(60_000);
      expect(await twice[0]).toBe('found');
      expect(await attempt(true, shared, 'late@b.com')).toBe('found');
    } finally {
      jest.useRealTimers();
    }
  });

  it('from the /64 networks of one /48 count together, with four times the limit [REQ-23]', async () => {
    const within = (): string => `2001:db8:1:${(last += 1)}::/64`;
    const ofAccount = [];
    for (let tried = 0; tried < 6; tried += 1) ofAccount.push(...(await attempts(10, false, within())));
    expect(having(ofAccount, 'wrong')).toBe(40);
    for (const count of [100, 100, 100, 60]) await fail(within(), count);
    expect(having(await guessesAtOnce(40, within), 'wrong')).toBe(1);
    expect(await attempt(true, '2001:db8:2:1::/64', 'other@b.com')).toBe('found');
  });

  it('are not counted if the check itself fails, which frees the slot', async () => {
    const fault = new Error('The disk is gone.');
    for (let times = 0; times < 20; times += 1)
      await expect(logins.attempt(EMAIL, HOME, () => Promise.reject(fault))).rejects.toBe(fault);
    expect(await attempt(true, HOME)).toBe('found');
  });

  it('are refused beyond the maximum of waiting attempts', async () => {
    const outcomes = await attempts(200, true, HOME);
    expect(having(outcomes, 'found')).toBe(60);
    expect(outcomes.filter((outcome) => outcome === 1)).toHaveLength(140);
  });
});
