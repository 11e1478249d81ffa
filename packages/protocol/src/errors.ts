/** One row of the error table: what a caller sees when a request or an event is refused. */
export interface ErrorDefinition {
  /** HTTP status of the answer; over the relay the code travels alone. */
  readonly status: number;
  readonly meaning: string;
}

/** Every code that a refused request or relay event can carry. `docs/errors.md` is generated from it. */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: 'The request is not valid; `fields` lists what is wrong.' },
  INVALID_TOKEN: { status: 401, meaning: 'The token is missing, malformed, expired or revoked.' },
  FORBIDDEN: {
    status: 403,
    meaning: 'The caller has no permission for this, or is not a member of the workspace.',
  },
  NOT_FOUND: { status: 404, meaning: 'The workspace has no such resource, or there is no such route.' },
  CONFLICT: { status: 409, meaning: 'The request contradicts the current state.' },
  LATE_RESULT: { status: 409, meaning: 'The call was cancelled or timed out before this result arrived.' },
  STALE: { status: 412, meaning: 'The file has changed since the version that the request is based on.' },
  TOO_LARGE: { status: 413, meaning: 'A body, frame or file is over its limit, or a quota is used up.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The route does not accept this content type.' },
  RATE_LIMITED: {
    status: 429,
    meaning: 'Too many requests, or too many open turns. Retry-After says when to try again.',
  },
  INTERNAL_ERROR: { status: 500, meaning: 'The server failed. Its log has the cause under the request id.' },
  UNAVAILABLE: {
    status: 503,
    meaning: 'The server is starting or stopping, or cannot write to its storage. Try again.',
  },
} as const satisfies Record<string, ErrorDefinition>;

/** A code of ERRORS. */
export type ErrorCode = keyof typeof ERRORS;

/** Body of every HTTP error. `fields` maps a path into the request, such as `toolCalls[0].name`, to its fault. */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  fields?: Record<string, string>;
}

/** Codes that Patchbay itself gives to a tool call that ended without success; a tool's own codes stand beside them. */
export const CALL_ERRORS = {
  UNKNOWN_TOOL: 'The catalog has no tool with this name.',
  INVALID_ARGUMENTS: "The arguments do not match the tool's request schema; `details.faults` says where.",
  DENIED: 'A person denied the call.',
  CANCELLED: 'The orchestrator cancelled the call or its turn.',
  OUTCOME_UNKNOWN:
    'The client that ran the call has lost its record of it. Check whether the call took effect before you repeat it.',
  DELIVERY_TIMEOUT: 'No client acknowledged the call in time.',
  APPROVAL_TIMEOUT: 'No person decided in time.',
  EXECUTION_TIMEOUT: 'The client started the call and sent no result in time.',
  STALE: 'The file has changed since the sha256 that the call was planned on.',
  LINES_MISMATCH: 'The sha256 matches, but the file does not contain the expected lines.',
  INTERNAL_ERROR: 'The server or the tool failed.',
} as const;

/** A code of CALL_ERRORS. */
export type CallErrorCode = keyof typeof CALL_ERRORS;
