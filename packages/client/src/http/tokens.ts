import type { Credentials } from '@patchbay/protocol';

/** What proves who the caller is. Without a refresh token it is over when the access token ends. */
export interface Tokens {
  accessToken: string;
  refreshToken: string | null;
  /** Epoch milliseconds; null if unknown or never. */
  expiresAt: number | null;
}

/**
 * Where tokens are kept. A refresh token works once, so whoever shares a store must take turns:
 * `update` shows `change` the newest tokens, keeps what it returns, and lets nobody else in meanwhile.
 */
export interface TokenStore {
  /** Null: nobody is logged in. */
  read(): Promise<Tokens | null>;
  /** What `change` rejects with is passed on, and the tokens stay as they were. */
  update(change: (now: Tokens | null) => Promise<Tokens | null>): Promise<Tokens | null>;
}

export function tokensFrom(credentials: Credentials, now = Date.now()): Tokens {
  return {
    accessToken: credentials.accessToken,
    refreshToken: credentials.refreshToken,
    expiresAt: now + credentials.expiresIn * 1000,
  };
}

/** Tokens in memory, for one process. */
export class MemoryTokenStore implements TokenStore {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private tokens: Tokens | null = null) {}

  async read(): Promise<Tokens | null> {
    return this.tokens;
  }

  update(change: (now: Tokens | null) => Promise<Tokens | null>): Promise<Tokens | null> {
    const mine = this.turn.then(async () => (this.tokens = await change(this.tokens)));
    this.turn = mine.catch(() => undefined);
    return mine;
  }
}
