import { EventEmitter, once } from 'node:events';

/** Keeps the callers of a method waiting, as a slow disk would. */
export interface Hold {
  /** Resolves once somebody waits. */
  readonly reached: Promise<void>;
  /** Resolves once so many wait. */
  reachedBy(count: number): Promise<void>;
  release(): void;
}

/** From here on whoever calls the method waits before it is done, until the hold is released. */
export function hold<Method extends string>(
  store: { [name in Method]: (...given: never[]) => unknown },
  method: Method,
): Hold {
  const original = store[method] as (...given: unknown[]) => unknown;
  let release!: () => void;
  let count = 0;
  const arrivals = new EventEmitter();
  const reachedBy = async (least: number): Promise<void> => {
    while (count < least) await once(arrivals, 'arrival');
  };
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = async (...given: unknown[]): Promise<unknown> => {
    count += 1;
    arrivals.emit('arrival');
    await released;
    return original.apply(store, given);
  };
  Reflect.set(store, method, held);
  return {
    reached: reachedBy(1),
    reachedBy,
    release: () => {
      Reflect.deleteProperty(store, method);
      release();
    },
  };
}
