import { ERRORS, type ErrorBody, type ErrorCode, type Json, type RelayError } from '@patchbay/protocol';

/** A code of the server's error table, or NETWORK if no answer came. */
export type PatchbayErrorCode = ErrorCode | 'NETWORK';

/**
 * Every error that the SDK reports. Branch on `code`; `message` is for people.
 *
 * ```ts
 * await workspace.files.write('/a.txt', bytes, { ifMatch }).catch((error: PatchbayError) => {
 *   if (error.code !== 'STALE') throw error;
 *   return mergeAndWriteAgain();
 * });
 * ```
 */
export class PatchbayError extends Error {
  override readonly name = 'PatchbayError';
  /** How long to wait before the next try, in ms, at most 120,000; null if the server does not say. */
  retryAfterMs: number | null = null;
  /** Data that belongs to the code, such as the `RootConflict` of a refused handshake; otherwise null. */
  details: Json = null;

  /**
   * @param status HTTP status; 0 without one (network faults, relay events)
   * @param fields maps a path in the request or event, such as `toolCalls[0].name`, to its fault
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

/** True if the same request may succeed a moment later: no answer, or a server that starts or stops. */
export function isTransient(error: unknown): boolean {
  return error instanceof PatchbayError && (error.code === 'NETWORK' || error.code === 'UNAVAILABLE');
}

/**
 * True if a quota of the workspace or the user is used up. Sending smaller files does not help. The message names the
 * setting that holds the limit.
 */
export function isQuotaExceeded({ code, message }: { code: PatchbayErrorCode; message: string }): boolean {
  return code === 'TOO_LARGE' && SHARE.test(message);
}

const SHARE = /\bPATCHBAY_MAX_(?:USER_)?(?:STORED_BYTES|FILES|VERSIONS|SESSIONS)\b/;

/**
 * True if the request may still succeed: a transient error, an overloaded server, or an internal error. A client that
 * must stay connected keeps trying after it.
 */
export function isRetryable({ code }: PatchbayError): boolean {
  return RETRYABLE.has(code);
}

const RETRYABLE: ReadonlySet<PatchbayErrorCode> = new Set([
  'NETWORK',
  'UNAVAILABLE',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
]);

/** The error of an HTTP answer. A body that is not ours, such as a proxy's page, is judged by its status. */
export function errorFromAnswer(
  status: number,
  body: unknown,
  retryAfterMs: number | null = null,
): PatchbayError {
  return Object.assign(judged(status, body), { retryAfterMs });
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

/** The error of a refused relay event or handshake. */
export function errorFromRelay({
  code,
  message,
  fields,
  details,
  retryAfterSeconds,
}: RelayError): PatchbayError {
  const error = new PatchbayError(code, message, 0, fields);
  error.details = details ?? null;
  error.retryAfterMs = retryAfterOf(retryAfterSeconds);
  return error;
}

/** Longest wait that is accepted from a server, in ms. */
const MAX_RETRY_AFTER_MS = 120_000;

/** Converts the seconds that a server asks to wait into ms; null if the value is not usable. */
export function retryAfterOf(seconds: unknown): number | null {
  const ms = Number(seconds ?? NaN) * 1000;
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
