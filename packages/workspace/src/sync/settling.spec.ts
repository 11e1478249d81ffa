import type { Stats } from 'node:fs';
import { stampOf } from './file-stamp.js';
import { Settling } from './settling.js';

describe('the upload of a change is delayed', () => {
  let now: number;
  let settling: Settling;
  beforeEach(() => {
    now = 1_000_000;
    settling = new Settling(() => now);
  });

  /** The stamp of a file that was just written for the nth time. */
  const written = (n: number) =>
    stampOf({ size: n, mtimeMs: Date.now(), ctimeMs: Date.now(), ino: 1, mode: 0o100644 } as Stats);

  it('until the file has not changed for 0.5 s', () => {
    const [first, second] = [written(1), written(2)];
    expect(settling.isStable('p/a', first)).toBe(false);
    now += 400;
    expect(settling.isStable('p/a', second)).toBe(false);
    now += 400;
    expect([settling.isStable('p/a', second), settling.isHeld('p/a'), settling.dueInMs]).toEqual([
      ...[false, true, 100],
    ]);
    now += 100;
    expect([settling.isStable('p/a', second), settling.isHeld('p/a')]).toEqual([true, false]);
  });

  it('never for a file that was changed long ago', () => {
    const ago = Date.now() - 600;
    const stats = { size: 1, mtimeMs: ago, ctimeMs: ago, ino: 1, mode: 0o100644 } as Stats;
    expect(settling.isStable('p/a', stampOf(stats))).toBe(true);
  });

  it('for at most 5 s if the file changes constantly, and again after it was sent', () => {
    let sentAfter = 0;
    for (let n = 1; sentAfter === 0; n += 1) {
      if (settling.isStable('p/log', written(n))) sentAfter = now - 1_000_000;
      else now += 200;
    }
    expect(sentAfter).toBe(5_000);
    settling.done('p/log');
    expect(settling.isStable('p/log', written(0))).toBe(false);
  });

  it('for a deletion from the last disappearance of the file', () => {
    settling.isGone('p/a');
    now += 1_000;
    settling.isStable('p/a', written(1));
    now += 1_500;
    expect(settling.isGone('p/a')).toBe(false);
  });

  it('for a deletion for 2 s', () => {
    expect(settling.isGone('p/a')).toBe(false);
    now += 1_900;
    expect(settling.isGone('p/a')).toBe(false);
    settling.prune();
    // The scan found the file, so a new deletion starts from now.
    settling.prune();
    now += 200;
    expect([settling.isGone('p/a'), settling.dueInMs]).toEqual([false, 2_000]);
    now += 2_000;
    // The deadline has passed, but the deletion must be queried again.
    expect(settling.dueInMs).toBe(0);
    expect([settling.isGone('p/a'), settling.dueInMs]).toEqual([true, Infinity]);
  });
});
