import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { sha256 } from '@patchbay/protocol/hash';
import { createHmac, randomBytes } from 'node:crypto';
import { Config } from '../config/config.js';
import { Bus } from '../events/bus.js';
import { Clock } from '../common/clock.js';
import { DomainError, type LoggedRefusal } from '../common/domain-error.js';
import { isUuid, newId } from '../common/ids.js';
import { type LoginRecord, LoginStore } from '../storage/records/logins.js';
import { LiveLogins } from './live-logins.js';

const DAY_MS = 24 * 60 * 60_000;
const PURGE_MS = 60 * 60_000;
/** A retry within this time gets the same successor: two processes may refresh at once. */
const RETRY_WINDOW_MS = 30_000;

/**
 * Logins and their rotating refresh tokens, `<login id>.<family>.<secret>`. All tokens of a login share the secret
 * family, so showing it proves possession of a token. Login ids appear in logs and prove nothing.
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
    private readonly live: LiveLogins,
    private readonly bus: Bus,
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
  async begin(userId: string): Promise<IssuedToken> {
    const family = randomBytes(16).toString('base64url');
    const token = tokenOf(newId(), family, randomBytes(32).toString('base64url'));
    const now = this.clock.now();
    await this.store.insert({
      id: token.loginId,
      userId,
      familyHash: sha256(token.family),
      tokenHash: sha256(token.text),
      previousHash: null,
      seed: null,
      rotatedAt: now,
      expiresAt: now + this.lifeMs,
      createdAt: now,
    });
    return { userId, loginId: token.loginId, refreshToken: token.text };
  }

  /**
   * Returns the successor of a refresh token; throws INVALID_TOKEN. The token stays valid until its successor is first
   * used, since the answer may be lost. A retry within 30 s gives the same successor, a later one replaces it. Reuse of
   * a used or replaced token ends the login, since two parties hold it.
   */
  async rotate(refreshToken: string): Promise<IssuedToken> {
    // The second of two parallel requests finds its token to be the previous one.
    for (;;) {
      const found = await this.find(refreshToken);
      if (found === null) throw invalid();
      const { token, login } = found;
      const now = this.clock.now();
      const hash = sha256(token.text);
      if (hash !== login.tokenHash && hash !== login.previousHash) {
        await this.remove(login.id);
        throw invalid(reuseRefusal(login));
      }
      const same = hash === login.previousHash ? retryToken(token, login, now) : null;
      if (same !== null) return { userId: login.userId, loginId: login.id, refreshToken: same.text };
      const seed = randomBytes(16).toString('base64url');
      const next = nextToken(token, seed);
      const rotation = {
        ...{ tokenHash: sha256(next.text), previousHash: hash, seed },
        ...{ rotatedAt: now, expiresAt: now + this.lifeMs },
      };
      if (await this.store.rotate(login.id, login.tokenHash, rotation)) {
        return { userId: login.userId, loginId: login.id, refreshToken: next.text };
      }
    }
  }

  /** Ends the login of the token, newest or older; an unknown token does nothing. */
  async end(refreshToken: string): Promise<void> {
    const found = await this.find(refreshToken);
    if (found !== null) await this.remove(found.login.id);
  }

  /** The login that the token belongs to, if any. */
  private async find(refreshToken: string): Promise<{ token: Token; login: LoginRecord } | null> {
    const token = readToken(refreshToken);
    const login = token && (await this.store.byId(token.loginId));
    if (token === null || login === null || login.expiresAt <= this.clock.now()) return null;
    return sha256(token.family) === login.familyHash ? { token, login } : null;
  }

  private async remove(loginId: string): Promise<void> {
    await this.store.remove(loginId);
    this.live.ended(loginId);
    this.bus.publish({ type: 'login_ended', loginId });
  }
}

/** A newly issued refresh token. */
export interface IssuedToken {
  userId: string;
  loginId: string;
  refreshToken: string;
}

interface Token {
  loginId: string;
  family: string;
  /** The full token text that the client gets. */
  text: string;
}

function tokenOf(loginId: string, family: string, secret: string): Token {
  return { loginId, family, text: `${loginId}.${family}.${secret}` };
}

/** Derives the successor of a token from a seed, so the store alone does not reveal it. */
function nextToken({ loginId, family, text }: Token, seed: string): Token {
  return tokenOf(loginId, family, createHmac('sha256', text).update(seed).digest('base64url'));
}

/** The successor that this token got within the last 30 s; null if that was longer ago. */
function retryToken(token: Token, { tokenHash, seed, rotatedAt }: LoginRecord, now: number): Token | null {
  if (seed === null || now - rotatedAt >= RETRY_WINDOW_MS) return null;
  const same = nextToken(token, seed);
  return sha256(same.text) === tokenHash ? same : null;
}

function readToken(text: string): Token | null {
  const [loginId, family, secret, ...more] = text.split('.');
  if (!isUuid(loginId) || !family || !secret || more.length > 0) return null;
  return { loginId, family, text };
}

function invalid(logged?: LoggedRefusal): DomainError {
  return new DomainError('INVALID_TOKEN', 'The refresh token is not valid', logged && { logged });
}

function reuseRefusal({ id: loginId, userId }: LoginRecord): LoggedRefusal {
  return { message: 'A refresh token was used twice; the login has ended', userId, loginId };
}
