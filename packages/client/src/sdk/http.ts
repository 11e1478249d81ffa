import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { Credentials } from '@patchbay/protocol';
import { errorFromAnswer, isTransient, PatchbayError } from './errors.js';
import { tokensFrom, type Tokens, type TokenStore } from './tokens.js';

/** A token that ends sooner than this is exchanged before it is used. */
const EXPIRY_MARGIN_MS = 5_000;
const RETRY_DELAYS_MS = [200, 400, 800, 1_600, 3_200, 5_000];
const ANSWER_TIMEOUT_MS = 30_000;

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below `/api/v1`. */
  path: string;
  query?: object;
  body?: object;
  /** Repeating it changes nothing, so a network fault or a 503 is retried. Default: GET only. */
  idempotent?: boolean;
  /** Milliseconds that the server may hold the answer back. */
  waitMs?: number;
  signal?: AbortSignal;
  /** Sent as it is, without a token: the account routes. */
  anonymous?: boolean;
}

type Query = Record<string, string | number | boolean | null | undefined>;

/** JSON over fetch, with the token kept fresh and idempotent requests retried. */
export class HttpTransport {
  private refreshing: Promise<Tokens | null> | null = null;

  constructor(
    private readonly baseUrl: string,
    private readonly tokens: TokenStore,
    private readonly retryDelaysMs: readonly number[] = RETRY_DELAYS_MS,
  ) {}

  async request<T>(request: HttpRequest): Promise<T> {
    const retryable = request.idempotent ?? request.method === 'GET';
    for (let attempt = 0; ; attempt++) {
      try {
        return (await this.authorised(request)) as T;
      } catch (error) {
        const delay = this.retryDelaysMs[attempt];
        if (!retryable || delay === undefined || !isTransient(error)) throw error;
        await sleep(delay * (0.75 + Math.random() / 2), undefined, { signal: request.signal });
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

  private async authorised(request: HttpRequest): Promise<unknown> {
    if (request.anonymous) return this.send(request, null);
    const token = await this.accessToken();
    try {
      return await this.send(request, token);
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.code !== 'INVALID_TOKEN') throw error;
      const fresh = await this.accessToken(token);
      if (fresh === token) throw error;
      return this.send(request, fresh);
    }
  }

  private async send(request: HttpRequest, token: string | null): Promise<unknown> {
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS + (request.waitMs ?? 0));
    try {
      const answer = await fetch(this.urlOf(request), {
        method: request.method,
        headers: {
          accept: 'application/json',
          ...(request.body && { 'content-type': 'application/json' }),
          ...(token !== null && { authorization: `Bearer ${token}` }),
        },
        ...(request.body && { body: JSON.stringify(request.body) }),
        signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
      });
      const body = parse(await answer.text());
      if (!answer.ok) throw errorFromAnswer(answer.status, body);
      return body;
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

/** fetch hides why it failed in a chain of causes; the innermost is the one a person can use. */
function reason(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  if (error.name === 'TimeoutError') return 'it took too long.';
  const cause = error.cause instanceof AggregateError ? (error.cause.errors[0] as unknown) : error.cause;
  return cause ? reason(cause) : error.message;
}
