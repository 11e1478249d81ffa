import { AsyncLocalStorage } from 'node:async_hooks';

/** The owner of work that no user or address asked for. */
const SERVER = 'server';

const owners = new AsyncLocalStorage<string>();

/** Does work in the name of an owner, a user's id or an address: its long parts take the time slices of that owner. */
export function asOwner<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

/** The owner in whose name the code that asks is run. */
export function workOwner(): string {
  return owners.getStore() ?? SERVER;
}
