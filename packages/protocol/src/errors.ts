/** One row of the error table: the answer to a refused request or event. */
export interface ErrorDefinition {
  /** HTTP status of the answer; the relay sends only the code. */
  readonly status: number;
  readonly meaning: string;
}

/** All codes of refused requests and relay events. Source of `docs/errors.md`. */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: 'The request breaks its contract; `fields` names every fault.' },
  INVALID_TOKEN: { status: 401, meaning: 'No token, or one that is malformed, expired or revoked.' },
  FORBIDDEN: { status: 403, meaning: 'The caller may not do this, or is not a member of the workspace.' },
  NOT_FOUND: { status: 404, meaning: 'Nothing with this id or path in this workspace, or no such route.' },
  CONFLICT: { status: 409, meaning: 'The request contradicts what is already recorded.' },
  LATE_RESULT: { status: 409, meaning: 'The call was cancelled or timed out before this result came.' },
  STALE: { status: 412, meaning: 'The file has changed since the version that the request is based on.' },
  TOO_LARGE: { status: 413, meaning: 'A body, frame or file is over its limit, or a quota is used up.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The route does not accept this content type.' },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests, or too many open turns; see Retry-After.' },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'A fault of the server. The log has the details under the request id.',
  },
  UNAVAILABLE: {
    status: 503,
    meaning: 'The server is starting or stopping, or cannot write to its storage. Try again.',
  },
} as const satisfies Record<string, ErrorDefinition>;

/** A code of ERRORS. */
export type ErrorCode = keyof typeof ERRORS;

/** Body of every HTTP error. `fields` maps a path in the request, such as `toolCalls[0].name`, to its fault. */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  fields?: Record<string, string>;
}

/** Patchbay's own codes of a tool call that ended without success; tools have further codes. */
export const CALL_ERRORS = {
  UNKNOWN_TOOL: 'The catalog has no tool of this name.',
  INVALID_ARGUMENTS: "The arguments break the tool's request schema; `details.faults` says where.",
  DENIED: 'A person denied the call.',
  CANCELLED: 'The orchestrator cancelled the call or its turn.',
  OUTCOME_UNKNOWN:
    'The client that was running the call lost its record of it: check whether it took effect before you try again.',
  DELIVERY_TIMEOUT: 'No client accepted the call in time.',
  APPROVAL_TIMEOUT: 'No person decided in time.',
  EXECUTION_TIMEOUT: 'The client started the call and sent no result in time.',
  TOOL_GONE: 'The client that offered the tool came back without it, or with another contract.',
  TOOL_ERROR: 'A tool that a client brings reported `isError`; the message is its text.',
  STALE: 'The file has changed since the sha256 that the call is based on.',
  LINES_MISMATCH: 'The sha256 matches, but the file has other lines than expected.',
  INTERNAL_ERROR: 'A fault of the server or of the tool.',
} as const;

/** A code of CALL_ERRORS. */
export type CallErrorCode = keyof typeof CALL_ERRORS;
