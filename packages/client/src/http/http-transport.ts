import type { Credentials } from '@patchbay/protocol';
import { errorFromAnswer, isTransient, PatchbayError, retryAfterOf } from './patchbay-error.js';
import { sleep } from './sleep.js';
import { tokensFrom, type Tokens, type TokenStore } from './tokens.js';

/** A token that expires sooner than this is exchanged before it is used. */
const EXPIRY_MARGIN_MS = 5_000;
const RETRY_DELAYS_MS = [200, 400, 800, 1_600, 3_200, 5_000];
const ANSWER_TIMEOUT_MS = 30_000;
const NOT_MODIFIED = 304;
/** Longest total wait of a request of a file transfer: many requests in a row meet the rate limit. */
const TRANSFER_PATIENCE_MS = 15 * 60_000;
/** Wait after a RATE_LIMITED without Retry-After. */
const DEFAULT_RATE_LIMIT_WAIT_MS = 1_000;
const LEAST_WAIT_MS = 100;

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below `/api/v1`. */
  path: string;
  query?: object;
  body?: object;
  /** Raw body, instead of JSON. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  /** Part of a file transfer: waits for minutes when rate limited. */
  patient?: boolean;
  /** Repeating the request has no further effect, so it is retried after a network fault or a 503. Default: GET only. */
  idempotent?: boolean;
  /** Milliseconds that the server may hold the answer back. */
  waitMs?: number;
  signal?: AbortSignal;
  /** Sent without a token, as the account routes are. */
  anonymous?: boolean;
}

/** An answer that is not JSON. */
export interface BytesAnswer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

type ReadAnswer<T> = (answer: Response) => Promise<T>;
type Query = Record<string, string | number | boolean | null | undefined>;

/** How long requests are retried. */
export interface WaitOptions {
  /**
   * Waits between the tries of an idempotent request, in ms; default six waits, 11 s in total. An empty list means
   * one try.
   */
  retryDelaysMs?: readonly number[] | undefined;
  /** Longest total wait of a rate-limited request, in ms; by default it fails at once. */
  patienceMs?: number | undefined;
  /** Called before each such wait, with its length in ms. */
  onWait?: ((delayMs: number) => void) | undefined;
}

/** JSON and bytes over fetch. Refreshes the token and retries idempotent requests. */
export class HttpTransport {
  private refreshing: Promise<Tokens | null> | null = null;
  private readonly waiting: Required<Omit<WaitOptions, 'onWait'>> & Pick<WaitOptions, 'onWait'>;

  constructor(
    private readonly baseUrl: string,
    private readonly tokens: TokenStore,
    { retryDelaysMs = RETRY_DELAYS_MS, patienceMs = 0, onWait }: WaitOptions = {},
  ) {
    this.waiting = { retryDelaysMs, patienceMs, onWait };
  }

  request<T>(request: HttpRequest): Promise<T> {
    return this.untilAnswered(request, async (answer) => parse(await answer.text()) as T);
  }

  requestBytes(request: HttpRequest): Promise<BytesAnswer> {
    return this.untilAnswered(request, async (answer) => {
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, headers: answer.headers, bytes };
    });
  }

  private async untilAnswered<T>(request: HttpRequest, read: ReadAnswer<T>): Promise<T> {
    const retryable = request.idempotent ?? request.method === 'GET';
    let patience = this.patienceFor(request);
    for (let attempt = 0; ;) {
      try {
        return await this.authorised(request, read);
      } catch (error) {
        let delay: number | undefined;
        if (isRateLimited(error)) {
          // A rate-limited request had no effect, so any request may be sent again, but no sooner than the server
          // says.
          delay =
            Math.max(error.retryAfterMs ?? DEFAULT_RATE_LIMIT_WAIT_MS, LEAST_WAIT_MS) *
            (1 + Math.random() / 4);
          patience -= delay;
          if (patience < 0) throw error;
          this.waiting.onWait?.(delay);
        } else if (retryable && isTransient(error)) {
          delay = spread(this.waiting.retryDelaysMs[attempt++]);
        }
        if (delay === undefined) throw error;
        await sleep(delay, request.signal);
      }
    }
  }

  /** The account routes do not wait: a token exchange holds a lock, and its callers can wait themselves. */
  private patienceFor({ anonymous, patient }: HttpRequest): number {
    if (anonymous) return 0;
    return patient ? TRANSFER_PATIENCE_MS : this.waiting.patienceMs;
  }

  /**
   * An access token that has not expired. With `refused`, a token other than that one, which the server rejected.
   * Throws INVALID_TOKEN if there is no login or it has ended.
   */
  async accessToken(refused?: string): Promise<string> {
    const held = await this.tokens.read();
    if (!held) throw new PatchbayError('INVALID_TOKEN', 'Not logged in.', 401);
    const usable = held.accessToken !== refused && !expiresSoon(held);
    if (usable || held.refreshToken === null) return held.accessToken;
    this.refreshing ??= this.exchange(held.accessToken).finally(() => (this.refreshing = null));
    const fresh = await this.refreshing;
    if (!fresh) throw new PatchbayError('INVALID_TOKEN', 'Logged out meanwhile.', 401);
    return fresh.accessToken;
  }

  private exchange(spent: string): Promise<Tokens | null> {
    return this.tokens.update(async (now) => {
      if (!now || now.accessToken !== spent || now.refreshToken === null) return now;
      const body = { refreshToken: now.refreshToken };
      return tokensFrom(await this.request<Credentials>({ ...post('/auth/refresh', body), anonymous: true }));
    });
  }

  private async authorised<T>(request: HttpRequest, read: ReadAnswer<T>): Promise<T> {
    if (request.anonymous) return this.send(request, null, read);
    const token = await this.accessToken();
    try {
      return await this.send(request, token, read);
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.code !== 'INVALID_TOKEN') throw error;
      const fresh = await this.accessToken(token);
      if (fresh === token) throw error;
      return this.send(request, fresh, read);
    }
  }

  private async send<T>(request: HttpRequest, token: string | null, read: ReadAnswer<T>): Promise<T> {
    const late = new AbortController();
    // AbortSignal.timeout does not keep the process alive, and Node may not report that a connection was closed at
    // once.
    const timer = setTimeout(
      () => late.abort(new DOMException('', 'TimeoutError')),
      ANSWER_TIMEOUT_MS + (request.waitMs ?? 0),
    );
    try {
      const answer = await fetch(this.urlOf(request), {
        method: request.method,
        headers: headersOf(request, token),
        ...bodyOf(request),
        signal: request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal,
      });
      if (!answer.ok && answer.status !== NOT_MODIFIED) throw await refusalOf(answer);
      return await read(answer);
    } catch (error) {
      if (error instanceof PatchbayError) throw error;
      request.signal?.throwIfAborted();
      throw new PatchbayError(
        'NETWORK',
        `No answer from ${this.baseUrl}: ${reason(error)}`,
        0,
        {},
        { cause: error },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  private urlOf(request: HttpRequest): URL {
    const url = new URL(`${this.baseUrl.replace(/\/+$/, '')}/api/v1${request.path}`);
    for (const [name, value] of Object.entries((request.query ?? {}) as Query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    return url;
  }
}

export function post(path: string, body: object = {}): HttpRequest {
  return { method: 'POST', path, body };
}

function headersOf({ body, bytes, headers }: HttpRequest, token: string | null): Record<string, string> {
  return {
    accept: 'application/json',
    ...(body && { 'content-type': 'application/json' }),
    ...(bytes && { 'content-type': 'application/octet-stream' }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...headers,
  };
}

function bodyOf({ body, bytes }: HttpRequest): { body?: string | Uint8Array<ArrayBuffer> } {
  if (bytes) return { body: bytes as Uint8Array<ArrayBuffer> };
  return body ? { body: JSON.stringify(body) } : {};
}

async function refusalOf(answer: Response): Promise<PatchbayError> {
  const retryAfterMs = retryAfterOf(answer.headers.get('retry-after'));
  return errorFromAnswer(answer.status, parse(await answer.text()), retryAfterMs);
}

/** Requests that failed together must not come back together. */
function spread(delayMs: number | undefined): number | undefined {
  return delayMs === undefined ? undefined : delayMs * (0.75 + Math.random() / 2);
}

function isRateLimited(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && error.code === 'RATE_LIMITED';
}

function expiresSoon(tokens: Tokens): boolean {
  return tokens.expiresAt !== null && tokens.expiresAt - Date.now() < EXPIRY_MARGIN_MS;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/**
 * fetch may hide the reason in a chain of causes; the innermost one is of use to people. Checked by shape: platform
 * errors are not instances of this realm's classes.
 */
function reason(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError') return 'it took too long.';
  const first = Array.isArray((cause as Partial<AggregateError>)?.errors)
    ? ((cause as AggregateError).errors[0] as unknown)
    : cause;
  return first ? reason(first) : message;
}
