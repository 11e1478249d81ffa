export interface UserRecord {
  id: string;
  /** Lowercase, unique. */
  email: string;
  fullName: string | null;
  passwordHash: string;
  createdAt: number;
}

/** Accounts. */
export abstract class UserStore {
  /** False where the email is another's; nothing is stored then. The same user again is true. */
  abstract insert(user: UserRecord): Promise<boolean>;
  /** Stores the user where nobody is stored yet, of any email; of several at once one is. The same user again is true. */
  abstract insertFirst(user: UserRecord): Promise<boolean>;
  /** Whether nobody is stored. */
  abstract isEmpty(): Promise<boolean>;
  abstract byId(id: string): Promise<UserRecord | null>;
  abstract byEmail(email: string): Promise<UserRecord | null>;
  /** Those of the ids that exist, in no particular order. */
  abstract byIds(ids: string[]): Promise<UserRecord[]>;
}
