interface Closable {
  close?: () => unknown;
}

type Hook = (run: () => Promise<void>) => void;

/** A fixture that all tests of a `describe` share: opened before the first of them, closed after the last. */
export function suiteFixture<T extends object>(open: () => T | Promise<T>): T {
  return fixtureBetween(beforeAll, afterAll, open);
}

/** A fixture of each test of a `describe`: opened before the test, closed after it. */
export function testFixture<T extends object>(open: () => T | Promise<T>): T {
  return fixtureBetween(beforeEach, afterEach, open);
}

/** Stands for the fixture that is open at the moment, so that a test uses it like a variable set by a hook. */
function fixtureBetween<T extends object>(before: Hook, after: Hook, open: () => T | Promise<T>): T {
  let current: (T & Closable) | undefined;
  before(async () => {
    current = undefined;
    current = await open();
  });
  after(async () => void (await current?.close?.()));
  const opened = (): T => {
    if (current === undefined) throw new Error('The fixture is used before its hook has opened it.');
    return current;
  };
  return new Proxy({} as T, {
    get: (_target, key) => Reflect.get(opened(), key) as unknown,
    set: (_target, key, value) => Reflect.set(opened(), key, value),
    has: (_target, key) => Reflect.has(opened(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(opened()),
  });
}
