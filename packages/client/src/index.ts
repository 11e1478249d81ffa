/* Entry `@patchbay/client`: Patchbay over HTTP. Runs in browsers too. */
export { PatchbayClient, type PatchbayClientOptions } from './http/patchbay-client.js';
export {
  isQuotaExceeded,
  isTransient,
  PatchbayError,
  type PatchbayErrorCode,
} from './http/patchbay-error.js';
export { MemoryTokenStore, type Tokens, type TokenStore } from './http/tokens.js';
export * from './http/workspace-client.js';
export * from './http/workspace-files.js';
export { type TurnFollowOptions, type TurnOutcome, type TurnPollOptions } from './http/workspace-turns.js';
