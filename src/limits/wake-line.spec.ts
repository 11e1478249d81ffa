import { WakeLine } from './wake-line.js';

describe('those who waited for one moment', () => {
  it('go on a few in each turn of the event loop, user by user', async () => {
    const line = new WakeLine();
    const woken: string[] = [];
    for (let n = 0; n < 160; n += 1) line.enter('much', () => woken.push('much'));
    line.enter('little', () => woken.push('little'));
    const atOnce = woken.length;
    expect(atOnce).toBeGreaterThan(0);
    expect(atOnce).toBeLessThan(40);
    await new Promise(setImmediate);
    expect(woken.slice(atOnce, atOnce + 2)).toContain('little');
    expect(woken.length).toBeLessThan(80);
    while (woken.length < 161) await new Promise(setImmediate);
  });

  it('is no wait for one who comes alone', async () => {
    const line = new WakeLine();
    for (let round = 0; round < 20; round += 1) {
      let isWoken = false;
      line.enter('one', () => (isWoken = true));
      expect(isWoken).toBe(true);
      await new Promise(setImmediate);
    }
  });
});
