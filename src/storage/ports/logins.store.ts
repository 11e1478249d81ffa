/** One login: the chain of refresh tokens that follow from it. Of its secrets only hashes are kept, sha256 in hex. */
export interface LoginRecord {
  id: string;
  userId: string;
  /** Of the secret that all tokens of the login have in common. */
  familyHash: string;
  /** Of the newest token. */
  tokenHash: string;
  /** Of the token before that; null while the first is the newest. */
  previousHash: string | null;
  /** What made the newest token of the one before; null while the first is the newest. */
  seed: string | null;
  /** When the newest token was made. */
  rotatedAt: number;
  expiresAt: number;
  createdAt: number;
}

/** The token that takes the place of the newest one, and what is the token before it then. */
export type Rotation = Pick<LoginRecord, 'tokenHash' | 'previousHash' | 'seed' | 'rotatedAt' | 'expiresAt'>;

/** Logins, one record each, kept until they expire or are ended. A write that is sent again changes nothing more. */
export abstract class LoginStore {
  abstract insert(login: LoginRecord): Promise<void>;
  abstract byId(id: string): Promise<LoginRecord | null>;
  /**
   * Puts a new token in the place of the one whose hash is `newestHash`; false where that is no longer the newest. The
   * same rotation again is true while its token is the newest.
   */
  abstract rotate(id: string, newestHash: string, next: Rotation): Promise<boolean>;
  abstract remove(id: string): Promise<void>;
  abstract removeExpired(before: number): Promise<void>;
}
