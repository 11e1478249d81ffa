import { Injectable } from '@nestjs/common';
import type { Credentials, User } from '@patchbay/protocol';
import { Config } from '../config/config.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { UserStore, type UserRecord } from '../storage/ports/users.store.js';
import { AccessTokens, type VerifiedToken } from './access-tokens.js';
import type { LoginDto, RegisterDto } from './auth.dto.js';
import { FailedLogins } from './failed-logins.js';
import { type IssuedToken, Logins } from './logins.js';
import { hashPassword, verifyPassword } from './password.js';

/** Accounts, logins, and who a token stands for. */
@Injectable()
export class AuthService {
  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly users: UserStore,
    private readonly logins: Logins,
    private readonly tokens: AccessTokens,
    private readonly failedLogins: FailedLogins,
  ) {}

  /** Makes an account and logs it in; CONFLICT where the email has one. */
  async register({ email, password, fullName }: RegisterDto): Promise<Credentials> {
    const user: UserRecord = {
      id: newId(),
      email: normalizeEmail(email),
      fullName: fullName ?? null,
      passwordHash: await hashPassword(password),
      createdAt: this.clock.now(),
    };
    if (!(await this.users.insert(user)))
      throw new DomainError('CONFLICT', 'This email has an account already');
    return this.credentials(user, await this.logins.begin(user.id));
  }

  /** The same refusal, after the same time, for an unknown email and for a wrong password. */
  async login({ email, password }: LoginDto): Promise<Credentials> {
    const normalized = normalizeEmail(email);
    const check = (): Promise<UserRecord | null> => this.userWith(normalized, password);
    const user = await (this.config.rateLimit === null
      ? check()
      : this.failedLogins.attempt(normalized, check));
    if (user === null) throw new DomainError('INVALID_TOKEN', 'Email or password is wrong');
    return this.credentials(user, await this.logins.begin(user.id));
  }

  /** New tokens for the newest refresh token of a login; one that was used up ends the whole login. */
  async refresh(refreshToken: string): Promise<Credentials> {
    const next = await this.logins.rotate(refreshToken);
    const user = await this.users.byId(next.userId);
    if (user === null) throw new DomainError('INVALID_TOKEN', 'The refresh token is not valid');
    return this.credentials(user, next);
  }

  /** Ends the login with its access tokens and connections. A token that nobody knows changes nothing. */
  async logout(refreshToken: string): Promise<void> {
    await this.logins.end(refreshToken);
  }

  /** Whose token it is and until when; throws INVALID_TOKEN. For HTTP and the relay alike. */
  async verifyAccessToken(token: string): Promise<VerifiedToken> {
    return this.tokens.verify(token);
  }

  private async userWith(email: string, password: string): Promise<UserRecord | null> {
    const user = await this.users.byEmail(email);
    return (await verifyPassword(password, user?.passwordHash ?? null)) ? user : null;
  }

  private credentials({ id, email, fullName }: UserRecord, issued: IssuedToken): Credentials {
    const { loginId, refreshToken } = issued;
    const user: User = { id, email, fullName };
    return {
      user,
      accessToken: this.tokens.sign(user, loginId),
      refreshToken,
      expiresIn: this.tokens.lifeSeconds,
    };
  }
}

/** Emails differ neither by case nor by Unicode form. */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
