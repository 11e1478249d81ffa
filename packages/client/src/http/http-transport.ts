import type { Credentials } from '@patchbay/protocol';
import { errorFromAnswer, isTransient, PatchbayError } from './patchbay-error.js';
import { sleep } from './sleep.js';
import { tokensFrom, type Tokens, type TokenStore } from './tokens.js';

/** A token that ends sooner than this is exchanged before it is used. */
const EXPIRY_MARGIN_MS = 5_000;
const RETRY_DELAYS_MS = [200, 400, 800, 1_600, 3_200, 5_000];
const ANSWER_TIMEOUT_MS = 30_000;
const NOT_MODIFIED = 304;
/** Longest that a server may tell a patient caller to wait at a time. */
const MAX_RETRY_AFTER_MS = 120_000;

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below `/api/v1`. */
  path: string;
  query?: object;
  body?: object;
  /** The body, as it is, in place of JSON. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  /** Where there are too many requests it waits as long as the server says, instead of failing. */
  patient?: boolean;
  /** Repeating it changes nothing, so a network fault or a 503 is retried. Default: GET only. */
  idempotent?: boolean;
  /** Milliseconds that the server may hold the answer back. */
  waitMs?: number;
  signal?: AbortSignal;
  /** Sent as it is, without a token: the account routes. */
  anonymous?: boolean;
}

/** An answer that is no JSON. */
export interface BytesAnswer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

type ReadAnswer<T> = (answer: Response) => Promise<T>;
type Query = Record<string, string | number | boolean | null | undefined>;

/** JSON and bytes over fetch, with the token kept fresh and idempotent requests retried. */
export class HttpTransport {
  private refreshing: Promise<Tokens | null> | null = null;

  constructor(
    private readonly baseUrl: string,
    private readonly tokens: TokenStore,
    private readonly retryDelaysMs: readonly number[] = RETRY_DELAYS_MS,
  ) {}

  request<T>(request: HttpRequest): Promise<T> {
    return this.untilAnswered(request, async (answer) => parse(await answer.text()) as T);
  }

  /** The answer as bytes. */
  requestBytes(request: HttpRequest): Promise<BytesAnswer> {
    return this.untilAnswered(request, async (answer) => {
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, headers: answer.headers, bytes };
    });
  }

  private async untilAnswered<T>(request: HttpRequest, read: ReadAnswer<T>): Promise<T> {
    const retryable = request.idempotent ?? request.method === 'GET';
    for (let attempt = 0; ;) {
      try {
        return await this.authorised(request, read);
      } catch (error) {
        const told = request.patient && error instanceof PatchbayError ? error.retryAfterMs : null;
        const delay = told ?? (retryable && isTransient(error) ? this.retryDelaysMs[attempt++] : undefined);
        if (delay === undefined) throw error;
        await sleep(delay * (0.75 + Math.random() / 2), request.signal);
      }
    }
  }

  /**
   * An access token that has not expired. With `refused`, one other than that, which the server no longer takes.
   * Throws INVALID_TOKEN where no login is held or it has ended.
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
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS + (request.waitMs ?? 0));
    try {
      const answer = await fetch(this.urlOf(request), {
        method: request.method,
        headers: headersOf(request, token),
        ...bodyOf(request),
        signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
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
  const seconds = Number(answer.headers.get('retry-after') ?? NaN);
  const retryAfterMs = Number.isNaN(seconds) ? null : Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
  return errorFromAnswer(answer.status, parse(await answer.text()), retryAfterMs);
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
 * fetch may hide why it failed in a chain of causes; the innermost is the one a person can use. Told by their shape:
 * errors of the platform are no instances of this realm's classes.
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
