import { Injectable } from '@nestjs/common';
import type { Credentials, User } from '@patchbay/protocol';
import { Config } from '../config/config.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { UserStore, type UserRecord } from '../storage/records/users.js';
import { AccessTokens, type VerifiedToken } from './access-tokens.js';
import type { LoginDto, RegisterDto } from './auth.dto.js';
import { FailedLogins } from './failed-logins.js';
import { LiveLogins } from './live-logins.js';
import { type IssuedToken, Logins } from './logins.js';
import { hashPassword, verifyPassword } from './password.js';
import { PasswordQueue } from './password-queue.js';

/** Accounts, logins, and the user of a token. */
@Injectable()
export class AuthService {
  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly users: UserStore,
    private readonly logins: Logins,
    private readonly liveLogins: LiveLogins,
    private readonly tokens: AccessTokens,
    private readonly failedLogins: FailedLogins,
    private readonly passwords: PasswordQueue,
  ) {}

  /** Creates an account and logs it in. FORBIDDEN if registration is closed; CONFLICT if the email is taken. */
  async register({ email, password, fullName }: RegisterDto, address: string): Promise<Credentials> {
    await this.checkRegistration();
    const normalized = normalizeEmail(email);
    // Before the password is hashed, which is expensive.
    if ((await this.users.byEmail(normalized)) !== null) throw emailTaken();
    const user: UserRecord = {
      id: newId(),
      email: normalized,
      fullName: fullName ?? null,
      passwordHash: await this.passwords.run(address, () => hashPassword(password, this.config.passwordCost)),
      createdAt: this.clock.now(),
    };
    const isFirst = this.config.registration === 'first';
    if (!(await (isFirst ? this.users.insertFirst(user) : this.users.insert(user))))
      throw isFirst ? closedToOthers() : emailTaken();
    this.failedLogins.recordOwner(normalized, address);
    return this.credentials(user, await this.logins.begin(user.id));
  }

  /** An unknown email and a wrong password give the same error after the same time. Failures are logged. */
  async login({ email, password }: LoginDto, address: string): Promise<Credentials> {
    const normalized = normalizeEmail(email);
    let userId: string | null = null;
    const check = (): Promise<UserRecord | null> =>
      this.passwords.run(address, async () => {
        const user = await this.users.byEmail(normalized);
        userId = user?.id ?? null;
        const hash = user?.passwordHash ?? null;
        return (await verifyPassword(password, hash, this.config.passwordCost)) ? user : null;
      });
    const user = await this.failedLogins.attempt(normalized, address, check).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.code !== 'RATE_LIMITED') throw error;
      const logged = { message: 'A login was refused: too many have failed', userId };
      throw new DomainError(error.code, error.message, { ...error.extras, logged });
    });
    if (user === null) {
      const logged = { message: 'A login failed', userId };
      throw new DomainError('INVALID_TOKEN', 'Email or password is wrong', { logged });
    }
    return this.credentials(user, await this.logins.begin(user.id));
  }

  /** Exchanges a refresh token for new tokens; reuse of an older token ends the login. */
  async refresh(refreshToken: string, address: string): Promise<Credentials> {
    const next = await this.logins.rotate(refreshToken);
    const user = await this.users.byId(next.userId);
    if (user === null) throw new DomainError('INVALID_TOKEN', 'The refresh token is not valid');
    this.failedLogins.recordOwner(user.email, address);
    return this.credentials(user, next);
  }

  /** Ends the login, its access tokens and its connections. An unknown token changes nothing. */
  async logout(refreshToken: string): Promise<void> {
    await this.logins.end(refreshToken);
  }

  /** The user and the expiry of a token, for HTTP and the relay. INVALID_TOKEN or UNAVAILABLE. */
  verifyAccessToken(token: string): Promise<VerifiedToken> {
    return this.tokens.verify(token);
  }

  /** INVALID_TOKEN if the login of a verified token has ended since. */
  requireLogin(loginId: string, userId: string): Promise<void> {
    return this.tokens.requireLogin(loginId, userId);
  }

  /** The ended ones of these logins, read from the store now. */
  endedLogins(loginIds: readonly string[]): Promise<Set<string>> {
    return this.liveLogins.endedAmong(loginIds);
  }

  private async checkRegistration(): Promise<void> {
    const { registration } = this.config;
    if (registration === 'closed')
      throw new DomainError(
        'FORBIDDEN',
        'Registration is closed; the operator of this server can open it with PATCHBAY_REGISTRATION=open',
      );
    if (registration === 'first' && !(await this.users.isEmpty())) throw closedToOthers();
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

function emailTaken(): DomainError {
  return new DomainError('CONFLICT', 'An account with this email exists already');
}

function closedToOthers(): DomainError {
  return new DomainError(
    'FORBIDDEN',
    'Registration is closed after the first account; the operator of this server can open it with PATCHBAY_REGISTRATION=open',
  );
}

/** Emails are compared without regard to case and Unicode form. */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
