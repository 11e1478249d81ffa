import type { ResponseHandle } from '../common/http/response-closed.js';

// Not an AsyncLocalStorage: on Node 20 each one makes every promise of the process dearer.
const held = new WeakMap<ResponseHandle, () => void>();

/** The body of the request that `sending` answers counts until it is answered, or let go before. */
export function holdBody(sending: ResponseHandle, letGo: () => void): void {
  held.set(sending, letGo);
}

/**
 * Says that nothing of the body of the request that `sending` will answer is held any more: another large one of the same
 * user may come then.
 */
export function releaseBody(sending: ResponseHandle): void {
  held.get(sending)?.();
}
