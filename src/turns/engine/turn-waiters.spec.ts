import { Lifecycle } from '../../common/lifecycle.js';
import { Config } from '../../config/config.js';
import { aTurn, completed } from '../state/turn.sample.js';
import { TurnWaiters } from './turn-waiters.js';

const LONG_MS = 600_000;

describe('requests that wait for a turn', () => {
  const turn = aTurn('w');
  let lifecycle: Lifecycle;
  let waiters: TurnWaiters;
  beforeEach(() => {
    lifecycle = new Lifecycle();
    waiters = new TurnWaiters(lifecycle, Config.with({ maxUserWaiting: 2 }));
  });

  it('continue a few per turn of the event loop, user by user', async () => {
    const resolved: string[] = [];
    const wait = (userId: string): void => {
      void waiters.ended({ ...turn, userId }, LONG_MS).then(() => resolved.push(userId));
    };
    for (let n = 0; n < 160; n += 1) wait('much');
    wait('little');
    waiters.react({ before: turn, after: completed(turn), own: true, callArguments: null });
    await new Promise<void>((resolve) => void process.nextTick(resolve));
    const atOnce = resolved.length;
    expect(atOnce).toBeGreaterThan(0);
    expect(atOnce).toBeLessThan(40);
    await new Promise(setImmediate);
    expect(resolved.slice(atOnce, atOnce + 2)).toContain('little');
    expect(resolved.length).toBeLessThan(80);
    while (resolved.length < 161) await new Promise(setImmediate);
  });
});
