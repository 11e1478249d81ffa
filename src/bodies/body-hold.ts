import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<() => void>();

/** Handles a request whose body counts until it is answered, or let go before. */
export function holdingBody<T>(letGo: () => void, handle: () => T): T {
  return current.run(letGo, handle);
}

/**
 * Says that nothing of the body of the request that is being handled is held any more, though it is not answered yet:
 * another large one of the same user may come then.
 */
export function letGoOfBody(): void {
  current.getStore()?.();
}
