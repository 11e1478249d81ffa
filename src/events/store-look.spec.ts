import { jest } from '@jest/globals';
import type { PinoLogger } from '../common/pino-logger.js';
import { Bus, type Reach } from './bus.js';
import { StoreLook } from './store-look.js';

class BusOf extends Bus {
  constructor(public reach: Reach) {
    super();
  }

  publish(): void {}

  subscribe(): () => void {
    return () => undefined;
  }
}

class Looks extends StoreLook {
  count = 0;
  waiting = false;
  fails = false;
  running: Promise<void> = Promise.resolve();

  constructor(bus: Bus, logger: PinoLogger) {
    super(bus, { catchUpMs: 5_000, lookMs: 250 }, logger);
  }

  protected override isWaiting(): boolean {
    return this.waiting;
  }

  protected override async look(): Promise<void> {
    this.count += 1;
    await this.running;
    if (this.fails) throw new Error('broken');
  }

  /** Number of looks within so many ms. */
  async during(ms: number): Promise<number> {
    const before = this.count;
    await jest.advanceTimersByTimeAsync(ms);
    return this.count - before;
  }
}

describe('a look in the store', () => {
  let bus: BusOf;
  let looks: Looks;
  const error = jest.fn();
  const begin = async (reach: Reach): Promise<void> => {
    bus = new BusOf(reach);
    looks = new Looks(bus, { setContext: jest.fn(), error } as unknown as PinoLogger);
    await looks.onApplicationBootstrap();
  };
  beforeEach(() => {
    error.mockClear();
    jest.useFakeTimers();
  });
  afterEach(() => {
    looks.onModuleDestroy();
    jest.useRealTimers();
  });

  it('runs every 5 s without a timer in between on a node that is alone', async () => {
    const timers = jest.spyOn(globalThis, 'setInterval');
    await begin('alone');
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([5_000]);
    looks.waiting = true;
    expect(await looks.during(60_000)).toBe(12);
  });

  it('without a bus runs every 250 ms while another node may act and 30 s after, else every 500 ms', async () => {
    await begin('unlinked');
    expect(await looks.during(60_000)).toBe(120);
    looks.waiting = true;
    expect(await looks.during(60_000)).toBe(240);
    looks.waiting = false;
    expect(await looks.during(29_000)).toBe(116);
    await looks.during(2_000);
    expect(await looks.during(60_000)).toBe(120);
  });

  it('runs every 5 s while the bus is connected, and every 250 ms when it is not', async () => {
    await begin('linked');
    looks.waiting = true;
    expect(await looks.during(60_000)).toBe(12);
    bus.reach = 'unlinked';
    expect(await looks.during(10_000)).toBe(40);
    bus.reach = 'linked';
    await looks.during(5_000);
    expect(await looks.during(60_000)).toBe(12);
  });

  it('runs at once when messages may have been missed, also after a look in progress', async () => {
    await begin('linked');
    await looks.during(5_000);
    bus.caughtUp$.next();
    expect(await looks.during(0)).toBe(0);
    expect(looks.count).toBe(2);
    let end!: () => void;
    looks.running = new Promise((resolve) => (end = resolve));
    bus.caughtUp$.next();
    bus.caughtUp$.next();
    expect(await looks.during(20_000)).toBe(0);
    end();
    expect(await looks.during(250)).toBe(1);
  });

  it('waits 5 s after a failure, which is logged', async () => {
    await begin('unlinked');
    looks.waiting = true;
    looks.fails = true;
    expect(await looks.during(60_000)).toBe(12);
    expect(error).toHaveBeenCalledTimes(12);
    looks.fails = false;
    await looks.during(5_000);
    expect(await looks.during(10_000)).toBe(40);
  });
});
