import { ERRORS, type ErrorBody, type ErrorCode, type Json, type RelayError } from '@patchbay/protocol';

/** A code of the server's error table, or NETWORK where no answer came at all. */
export type PatchbayErrorCode = ErrorCode | 'NETWORK';

/**
 * Every refusal and every fault that the SDK reports. Branch on `code`; `message` is for people.
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
  /** When the server wants to be asked again, in ms from then, 120,000 at most; null where it does not say. */
  retryAfterMs: number | null = null;
  /** Facts that go with the code, such as the `RootConflict` of a refused handshake; null where there are none. */
  details: Json = null;

  /**
   * @param status HTTP status, 0 where there was none (network faults, relay events)
   * @param fields a path into the request or event, such as `toolCalls[0].name`, to its fault
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

/**
 * True where a share of the workspace or of the user is used up: no file is too large then, and sending less at a time
 * does not help. The message names the variable that holds the limit.
 */
export function isOutOfRoom({ code, message }: { code: PatchbayErrorCode; message: string }): boolean {
  return code === 'TOO_LARGE' && SHARE.test(message);
}

const SHARE = /\bPATCHBAY_MAX_(?:USER_)?(?:STORED_BYTES|FILES|VERSIONS|SESSIONS)\b/;

/**
 * True where nothing is decided yet: what is transient, a server that has too much to do, and one that failed. Who is
 * to stay connected waits then, and never ends for it.
 */
export function isWorthWaiting({ code }: PatchbayError): boolean {
  return WORTH_WAITING.has(code);
}

const WORTH_WAITING: ReadonlySet<PatchbayErrorCode> = new Set([
  'NETWORK',
  'UNAVAILABLE',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
]);

/** The error that an HTTP answer stands for; a body that is not ours (a proxy's page) is judged by its status. */
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

/** The error that a refused relay event, or a refused handshake, stands for. */
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

/** Longest that a server may have a caller wait at a time, in ms. */
const MAX_RETRY_AFTER_MS = 120_000;

/** How long to wait, in ms, for what a server says in seconds; null where it says nothing of use. */
export function retryAfterOf(seconds: unknown): number | null {
  const ms = Number(seconds ?? NaN) * 1000;
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
