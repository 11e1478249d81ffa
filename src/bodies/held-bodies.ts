import type { ResponseHandle } from '../common/http/response-closed.js';

// Not an AsyncLocalStorage: on Node 20 each one makes every promise of the process slower.
const held = new WeakMap<ResponseHandle, () => void>();

/** Keeps a request's body counted until its response is closed or `releaseBody` is called. */
export function holdBody(sending: ResponseHandle, letGo: () => void): void {
  held.set(sending, letGo);
}

/** Releases the body of the request that `response` answers, so that the user's next large body may start. */
export function releaseBody(sending: ResponseHandle): void {
  held.get(sending)?.();
}
