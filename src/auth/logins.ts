import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { sha256 } from '@patchbay/protocol';
import { randomBytes } from 'node:crypto';
import { Config } from '../config.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { isUuid, newId } from '../common/ids.js';
import { LoginStore } from '../storage/ports/logins.store.js';

const DAY_MS = 24 * 60 * 60_000;
const PURGE_MS = 60 * 60_000;

/** Logins and their rotating refresh tokens, `<login id>.<secret>`, of which only the newest one's hash is kept. */
@Injectable()
export class Logins implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Logins');
  private readonly lifeMs: number;
  private purge: NodeJS.Timeout | undefined;

  constructor(
    config: Config,
    private readonly clock: Clock,
    private readonly store: LoginStore,
  ) {
    this.lifeMs = config.refreshTokenDays * DAY_MS;
  }

  onModuleInit(): void {
    this.purge = setInterval(() => {
      this.store.removeExpired(this.clock.now()).catch((error: unknown) => this.logger.error(error));
    }, PURGE_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.purge);
  }

  /** Stores a new login and returns its first refresh token. */
  async begin(userId: string): Promise<string> {
    const id = newId();
    const refreshToken = newToken(id);
    const now = this.clock.now();
    const tokenHash = sha256(refreshToken);
    await this.store.insert({ id, userId, tokenHash, createdAt: now, expiresAt: now + this.lifeMs });
    return refreshToken;
  }

  /**
   * The next token in the place of this one; throws INVALID_TOKEN. A token that was used before is in two hands, and
   * nobody can tell which of them is the thief's: the login ends for both.
   */
  async rotate(refreshToken: string): Promise<{ userId: string; refreshToken: string }> {
    const id = loginIdOf(refreshToken);
    const login = id === null ? null : await this.store.byId(id);
    if (login === null || login.expiresAt <= this.clock.now()) throw invalid();
    const next = newToken(login.id);
    const expiresAt = this.clock.now() + this.lifeMs;
    if (!(await this.store.rotate(login.id, sha256(refreshToken), sha256(next), expiresAt))) {
      await this.store.remove(login.id);
      this.logger.warn(
        { userId: login.userId, loginId: login.id },
        'A refresh token was used twice; the login has ended',
      );
      throw invalid();
    }
    return { userId: login.userId, refreshToken: next };
  }

  async end(refreshToken: string): Promise<void> {
    const id = loginIdOf(refreshToken);
    if (id !== null) await this.store.remove(id);
  }
}

function newToken(loginId: string): string {
  return `${loginId}.${randomBytes(32).toString('base64url')}`;
}

function loginIdOf(refreshToken: string): string | null {
  const [id = ''] = refreshToken.split('.', 1);
  return isUuid(id) ? id : null;
}

function invalid(): DomainError {
  return new DomainError('INVALID_TOKEN', 'The refresh token is not valid');
}
