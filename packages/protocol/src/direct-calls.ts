import type { Json, JsonObject } from './tool-contract.js';

/** Body of `POST …/tools`: one call of a tool outside of a turn. */
export interface DirectCallRequest {
  tool: string;
  args?: JsonObject | null;
  /** The caller's session for the call; without it a client tool runs in a session chosen by the server. */
  sessionId?: string | null;
}

/** Answer to `POST …/tools`. */
export interface DirectCallAnswer {
  success: boolean;
  /** What the tool returned; with status 202 the turn result of a client call that is still open. */
  result: Json;
  /** Why it failed, for people; otherwise null. */
  error: string | null;
}
