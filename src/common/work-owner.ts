import { AsyncLocalStorage } from 'node:async_hooks';

/** The owner of work that no user or address requested. */
const SERVER = 'server';

const owners = new AsyncLocalStorage<string>();

/** Runs work for an owner, a user id or an address: its long parts use the time slices of that owner. */
export function asOwner<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

/** The owner of the current async context. */
export function workOwner(): string {
  return owners.getStore() ?? SERVER;
}
