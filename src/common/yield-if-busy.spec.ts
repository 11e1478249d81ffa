import { setImmediate as nextTurn } from 'node:timers/promises';
import { loopTurn } from './loop-turn.js';
import { yieldIfBusy } from './yield-if-busy.js';
import { asOwner } from './work-owner.js';

/** Blocks the event loop for this many ms. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('yieldIfBusy', () => {
  it('shares one slice among all long work, so that other work runs however much is open', async () => {
    let steps = 0;
    const long = async (): Promise<void> => {
      for (let step = 0; step < 5; step += 1) {
        await yieldIfBusy();
        work(6);
        steps += 1;
      }
    };
    const all = Promise.all(Array.from({ length: 10 }, long));
    const inTurns: number[] = [];
    while (steps < 50) {
      const before = steps;
      await new Promise(setImmediate);
      inTurns.push(steps - before);
    }
    await all;
    // Two steps exceed a slice; one more may have begun before it expired.
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(4);
  });

  it('counts what a step does after further awaits', async () => {
    const turns = new Map<number, number>();
    const long = async (): Promise<void> => {
      await yieldIfBusy();
      for (let hop = 0; hop < 5; hop += 1) await Promise.resolve();
      work(6);
      turns.set(loopTurn(), (turns.get(loopTurn()) ?? 0) + 1);
    };
    await Promise.all(Array.from({ length: 20 }, long));
    expect(Math.max(...turns.values())).toBeLessThanOrEqual(4);
  });

  it('gives owners equal time, however many jobs one of them has open', async () => {
    let greedySteps = 0;
    let isOver = false;
    const greedy = async (): Promise<void> => {
      while (!isOver) {
        await yieldIfBusy();
        work(5);
        greedySteps += 1;
      }
    };
    const all = asOwner('greedy', () => Array.from({ length: 200 }, greedy));
    await nextTurn();
    greedySteps = 0;
    await asOwner('modest', async () => {
      for (let step = 0; step < 100; step += 1) {
        await yieldIfBusy();
        work(0.1);
      }
    });
    isOver = true;
    // Ten milliseconds of work compete with equal time of the other owner; first in, first out would take 20,000 steps.
    expect(greedySteps).toBeLessThanOrEqual(10);
    await Promise.all(all);
  });

  it('treats all unauthenticated addresses as one lane, since addresses are cheap', async () => {
    const order: string[] = [];
    const step = async (name: string): Promise<void> => {
      await yieldIfBusy();
      work(3);
      order.push(name);
    };
    const unauthenticated = Array.from({ length: 20 }, (_, n) =>
      asOwner(`address 10.0.0.${n}`, () => step('unauthenticated')),
    );
    const users = Array.from({ length: 3 }, () => asOwner('user', () => step('user')));
    await Promise.all([...unauthenticated, ...users]);
    expect(order.lastIndexOf('user')).toBeLessThanOrEqual(7);
  });

  it('gives an owner who was idle no time in advance', async () => {
    const order: string[] = [];
    const step = async (name: string): Promise<void> => {
      await yieldIfBusy();
      work(3);
      order.push(name);
    };
    for (let n = 0; n < 10; n += 1) await asOwner('busy', () => step('earlier'));
    order.length = 0;
    const late = Array.from({ length: 10 }, () => asOwner('idle', () => step('idle')));
    const busy = Array.from({ length: 10 }, () => asOwner('busy', () => step('busy')));
    await Promise.all([...late, ...busy]);
    expect(order.indexOf('busy')).toBeLessThanOrEqual(3);
  });
});
