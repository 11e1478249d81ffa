import type { Credentials } from '@patchbay/protocol';

/** Credentials. Without a refresh token the login ends when the access token expires. */
export interface Tokens {
  accessToken: string;
  refreshToken: string | null;
  /** Epoch milliseconds; null if unknown or unlimited. */
  expiresAt: number | null;
}

/**
 * Stores tokens. A refresh token works once, so users of a shared store must take turns: `update` passes the newest
 * tokens to `change`, stores what it returns, and blocks other updates meanwhile.
 */
export interface TokenStore {
  /** Null without a login. */
  read(): Promise<Tokens | null>;
  /** Rejects with what `change` rejects with; the tokens then stay unchanged. */
  update(change: (now: Tokens | null) => Promise<Tokens | null>): Promise<Tokens | null>;
}

export function tokensFrom(credentials: Credentials, now = Date.now()): Tokens {
  return {
    accessToken: credentials.accessToken,
    refreshToken: credentials.refreshToken,
    expiresAt: now + credentials.expiresIn * 1000,
  };
}

/** Keeps tokens in memory, for one process. */
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
