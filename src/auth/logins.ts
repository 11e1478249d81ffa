import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { sha256 } from '@patchbay/protocol/hash';
import { randomBytes } from 'node:crypto';
import { Config } from '../config.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { isUuid, newId } from '../common/ids.js';
import { type LoginRecord, LoginStore } from '../storage/ports/logins.store.js';

const DAY_MS = 24 * 60 * 60_000;
const PURGE_MS = 60 * 60_000;
/** For how long the token before the newest is taken once more: its client may never have had the answer to it. */
const GRACE_MS = 30_000;

/**
 * Logins and their rotating refresh tokens, `<login id>.<family>.<secret>`. The family is the same in all tokens of a
 * login and in nothing else: who shows it has had one of them, where a mere id is in every log and proves nothing.
 */
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
    const token = nextToken({ loginId: newId(), family: randomBytes(16).toString('base64url') });
    const now = this.clock.now();
    await this.store.insert({
      id: token.loginId,
      userId,
      familyHash: sha256(token.family),
      tokenHash: sha256(token.text),
      previousHash: null,
      graceUntil: null,
      expiresAt: now + this.lifeMs,
      createdAt: now,
    });
    return token.text;
  }

  /**
   * The next token in the place of this one; throws INVALID_TOKEN. The token before the newest is taken once more for
   * 30 s. One that was used up is in two hands, and nobody can tell which of them is the thief's: the login ends for
   * both.
   */
  async rotate(refreshToken: string): Promise<{ userId: string; refreshToken: string }> {
    // Whoever comes second of two at once finds the token to be the one before, and no third time is granted.
    for (;;) {
      const found = await this.find(refreshToken);
      if (found === null) throw invalid();
      const { token, login } = found;
      const now = this.clock.now();
      const isNewest = sha256(token.text) === login.tokenHash;
      if (!isNewest && !isInGrace(token, login, now)) {
        await this.endReused(login);
        throw invalid();
      }
      const next = nextToken(token);
      const rotation = {
        tokenHash: sha256(next.text),
        graceUntil: isNewest ? now + GRACE_MS : null,
        expiresAt: now + this.lifeMs,
      };
      if (await this.store.rotate(login.id, login.tokenHash, rotation)) {
        return { userId: login.userId, refreshToken: next.text };
      }
    }
  }

  /** Ends the login that the token, its newest or an older one, belongs to; what is no token of it does nothing. */
  async end(refreshToken: string): Promise<void> {
    const found = await this.find(refreshToken);
    if (found !== null) await this.store.remove(found.login.id);
  }

  /** The login that the token is or was one of. */
  private async find(refreshToken: string): Promise<{ token: Token; login: LoginRecord } | null> {
    const token = readToken(refreshToken);
    const login = token && (await this.store.byId(token.loginId));
    if (token === null || login === null || login.expiresAt <= this.clock.now()) return null;
    return sha256(token.family) === login.familyHash ? { token, login } : null;
  }

  private async endReused({ id, userId }: LoginRecord): Promise<void> {
    await this.store.remove(id);
    this.logger.warn({ userId, loginId: id }, 'A refresh token was used twice; the login has ended');
  }
}

interface Token {
  loginId: string;
  family: string;
  /** All of it, as the client has it. */
  text: string;
}

function nextToken({ loginId, family }: Omit<Token, 'text'>): Token {
  return { loginId, family, text: `${loginId}.${family}.${randomBytes(32).toString('base64url')}` };
}

function readToken(text: string): Token | null {
  const [loginId, family, secret, ...more] = text.split('.');
  if (!isUuid(loginId) || !family || !secret || more.length > 0) return null;
  return { loginId, family, text };
}

function isInGrace({ text }: Token, { previousHash, graceUntil }: LoginRecord, now: number): boolean {
  return sha256(text) === previousHash && graceUntil !== null && now < graceUntil;
}

function invalid(): DomainError {
  return new DomainError('INVALID_TOKEN', 'The refresh token is not valid');
}
