import { ERRORS, type ErrorBody, type ErrorCode, type Json } from '@patchbay/protocol';

/** A code of the server's error table, or NETWORK where no answer came at all. */
export type PatchbayErrorCode = ErrorCode | 'NETWORK';

/** Every refusal and every fault that the SDK reports. Branch on `code`; `message` is for people. */
export class PatchbayError extends Error {
  override readonly name = 'PatchbayError';
  /** For RATE_LIMITED: when the server wants to be asked again. */
  retryAfterMs: number | null = null;
  /** Facts that go with the code, such as the `RootConflict` of a refused handshake; null where there are none. */
  details: Json = null;

  /**
   * @param status HTTP status, 0 where there was none (network faults, relay events)
   * @param fields for VALIDATION_ERROR: a path into the request, such as `toolCalls[0].name`, to its fault
   */
  constructor(
    readonly code: PatchbayErrorCode,
    message: string,
    readonly status = 0,
    readonly fields: Record<string, string> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** True where the same request may well succeed a moment later: no answer, or a server that starts or stops. */
export function isTransient(error: unknown): boolean {
  return error instanceof PatchbayError && (error.code === 'NETWORK' || error.code === 'UNAVAILABLE');
}

/** The error that an HTTP answer stands for; a body that is not ours (a proxy's page) is judged by its status. */
export function errorFromAnswer(
  status: number,
  body: unknown,
  retryAfterMs: number | null = null,
): PatchbayError {
  const error = judged(status, body);
  if (error.code === 'RATE_LIMITED') error.retryAfterMs = retryAfterMs;
  return error;
}

function judged(status: number, body: unknown): PatchbayError {
  if (isErrorBody(body)) return new PatchbayError(body.code, body.error, status, body.fields);
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const known = codes.find((code) => ERRORS[code].status === status);
  const code = known ?? (status === 502 || status === 504 ? 'UNAVAILABLE' : 'INTERNAL_ERROR');
  return new PatchbayError(code, `The server answered with status ${status} and no explanation.`, status);
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null || !('code' in body) || !('error' in body)) return false;
  return typeof body.error === 'string' && typeof body.code === 'string' && body.code in ERRORS;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
