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

  it('have so many places of each user, and one that was left is free again', () => {
    const leave = waiters.enter('ada');
    waiters.enter('ada');
    waiters.enter('ben');
    expect(() => waiters.enter('ada')).toThrow('2 requests that wait');
    leave();
    expect(() => waiters.enter('ada')).not.toThrow();
  });
});
