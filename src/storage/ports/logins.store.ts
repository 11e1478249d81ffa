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
  /** Until when the token before is taken too; null where it is not. */
  graceUntil: number | null;
  expiresAt: number;
  createdAt: number;
}

/** The token that takes the place of the newest one. */
export type Rotation = Pick<LoginRecord, 'tokenHash' | 'graceUntil' | 'expiresAt'>;

/** Logins, one record each, kept until they expire or are ended. A write that is sent again changes nothing more. */
export abstract class LoginStore {
  abstract insert(login: LoginRecord): Promise<void>;
  abstract byId(id: string): Promise<LoginRecord | null>;
  /**
   * Puts a new token in the place of the one whose hash is `newestHash`, which becomes the token before; false where
   * that is no longer the newest. The same rotation again is true while its token is the newest.
   */
  abstract rotate(id: string, newestHash: string, next: Rotation): Promise<boolean>;
  abstract remove(id: string): Promise<void>;
  abstract removeExpired(before: number): Promise<void>;
}
