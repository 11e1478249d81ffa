import type { ResponseHandle } from '../common/http/response-closed.js';

// Not an AsyncLocalStorage: on Node 20 each one makes every promise of the process slower.
const releases = new WeakMap<ResponseHandle, () => void>();

/** Keeps a request's body counted until its response is closed or `releaseBody` is called. */
export function holdBody(response: ResponseHandle, release: () => void): void {
  releases.set(response, release);
}

/** Releases the body of the request that `response` answers, so that the user's next large body may start. */
export function releaseBody(response: ResponseHandle): void {
  releases.get(response)?.();
}
