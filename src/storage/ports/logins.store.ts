/** One login: the chain of refresh tokens that follow from it. Only the newest token's hash is honoured. */
export interface LoginRecord {
  id: string;
  userId: string;
  /** sha256 of the refresh token, hex. */
  tokenHash: string;
  expiresAt: number;
  createdAt: number;
}

/** Logins, one record each, kept until they expire or are ended. */
export abstract class LoginStore {
  abstract insert(login: LoginRecord): Promise<void>;
  abstract byId(id: string): Promise<LoginRecord | null>;
  /** Puts a new token in the place of the one whose hash is `expectedHash`; false where that is no longer the newest. */
  abstract rotate(id: string, expectedHash: string, newHash: string, expiresAt: number): Promise<boolean>;
  abstract remove(id: string): Promise<void>;
  abstract removeExpired(before: number): Promise<void>;
}
