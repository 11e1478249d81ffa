import type { Json, JsonObject } from './tool-contract.js';

/** Body of `POST …/tools`: one call of a tool outside of a turn. */
export interface DirectCallRequest {
  tool: string;
  args?: JsonObject | null;
  /** The caller's own session on whose behalf the tool runs; without it a client's tool runs in one of the server's choice. */
  sessionId?: string | null;
}

/** Answer to `POST …/tools`. */
export interface DirectCallAnswer {
  success: boolean;
  /** What the tool returned; with status 202 the turn envelope of a client's call that is still open. */
  result: Json;
  /** Why it failed, for people; null where it did not. */
  error: string | null;
}
