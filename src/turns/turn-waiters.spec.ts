import { jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { Lifecycle } from '../common/lifecycle.js';
import { Config } from '../config/config.js';
import type { OpenTurns, TurnChange } from './open-turns.js';
import { aTurn, completed } from './turn.sample.js';
import { TurnWaiters } from './turn-waiters.js';

const LONG_MS = 600_000;

describe('requests that wait for a turn', () => {
  const turn = aTurn('w');
  let changes$: Subject<TurnChange>;
  let lifecycle: Lifecycle;
  let waiters: TurnWaiters;
  beforeEach(() => {
    changes$ = new Subject();
    lifecycle = new Lifecycle();
    const turns = { changes$ } as unknown as OpenTurns;
    waiters = new TurnWaiters(turns, lifecycle, Config.with({ maxUserWaiting: 2 }));
  });

  it('are all told of its end, and of no other turn’s', async () => {
    const told = Promise.all([waiters.ended(turn, LONG_MS), waiters.ended(turn, LONG_MS)]);
    const other = aTurn('w');
    for (const before of [other, turn]) {
      changes$.next({ before, after: completed(before), own: true, callArguments: null });
    }
    expect((await told).map((ended) => ended?.turnId)).toEqual([turn.turnId, turn.turnId]);
  });

  it('go on a few in each turn of the event loop, user by user', async () => {
    const told: string[] = [];
    const wait = (userId: string): void => {
      void waiters.ended({ ...turn, userId }, LONG_MS).then(() => told.push(userId));
    };
    for (let n = 0; n < 160; n += 1) wait('much');
    wait('little');
    changes$.next({ before: turn, after: completed(turn), own: true, callArguments: null });
    await new Promise<void>((resolve) => void process.nextTick(resolve));
    const atOnce = told.length;
    expect(atOnce).toBeGreaterThan(0);
    expect(atOnce).toBeLessThan(40);
    await new Promise(setImmediate);
    expect(told.slice(atOnce, atOnce + 2)).toContain('little');
    expect(told.length).toBeLessThan(80);
    while (told.length < 161) await new Promise(setImmediate);
  });

  it('are told at once when the server stops, and none waits from then on', async () => {
    const waiting = waiters.ended(turn, LONG_MS);
    lifecycle.stop();
    expect(await waiting).toBeNull();
    expect(await waiters.ended(turn, LONG_MS)).toBeNull();
  });

  it('are told that it goes on when their time is up, and not before', async () => {
    jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      let told: unknown = 'nothing';
      void waiters.ended(turn, 200).then((ended) => (told = ended));
      await jest.advanceTimersByTimeAsync(199);
      expect(told).toBe('nothing');
      await jest.advanceTimersByTimeAsync(1);
      expect(told).toBeNull();
    } finally {
      jest.useRealTimers();
    }
  });

  it('have a bounded number of slots for each user, and a released one is free again', () => {
    const slot = waiters.enter('ada');
    waiters.enter('ada');
    waiters.enter('ben');
    expect(() => waiters.enter('ada')).toThrow('2 requests that wait');
    slot.release();
    expect(() => waiters.enter('ada')).not.toThrow();
  });
});
