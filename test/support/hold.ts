/** Keeps the callers of a method waiting, as a slow disk would. */
export interface Hold {
  /** Resolves once somebody waits. */
  readonly reached: Promise<void>;
  release(): void;
}

/** From here on whoever calls the method waits before it is done, until the hold is released. */
export function hold<Method extends string>(
  store: { [name in Method]: (...given: never[]) => unknown },
  method: Method,
): Hold {
  const original = store[method] as (...given: unknown[]) => unknown;
  let reach!: () => void;
  let release!: () => void;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = async (...given: unknown[]): Promise<unknown> => {
    reach();
    await released;
    return original.apply(store, given);
  };
  Reflect.set(store, method, held);
  return {
    reached,
    release: () => {
      Reflect.deleteProperty(store, method);
      release();
    },
  };
}
