import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { JwtService } from '@nestjs/jwt';
import type { User } from '@patchbay/protocol';
import { LRUCache } from 'lru-cache';
import { Config } from '../config/config.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { isUuid, newId } from '../common/ids.js';
import { LiveLogins } from './live-logins.js';
import { tokenOf } from './request-token.js';

export interface VerifiedToken {
  user: User;
  /** The login that the token was issued to. */
  loginId: string;
  /** Epoch ms. */
  expiresAt: number;
}

/** Verified tokens to cache. */
const MAX_KNOWN = 1_000;

/** Longest accepted token, in characters; the server's own tokens are far shorter. */
const MAX_LENGTH = 8_192;

/** A token of this server that has expired, so its sender is not guessing. */
export class ExpiredToken extends DomainError {}

/** Signs and verifies access tokens. Only HS256 tokens with an expiry are accepted. */
@Injectable()
export class AccessTokens {
  readonly lifeSeconds: number;
  /** Verified tokens, by token text. */
  private readonly verified = new LRUCache<string, VerifiedToken>({ max: MAX_KNOWN });

  constructor(
    config: Config,
    private readonly clock: Clock,
    private readonly jwt: JwtService,
    private readonly logins: LiveLogins,
  ) {
    this.lifeSeconds = config.accessTokenMinutes * 60;
  }

  sign({ id, email, fullName }: User, loginId: string): string {
    const iat = this.nowSeconds();
    const exp = iat + this.lifeSeconds;
    return this.jwt.sign({ sub: id, email, fullName, login: loginId, jti: newId(), iat, exp });
  }

  /** INVALID_TOKEN for a bad token; UNAVAILABLE if the store cannot tell whether the login has ended. */
  async verify(token: string): Promise<VerifiedToken> {
    const verified = this.decode(token);
    await this.requireLogin(verified.loginId, verified.user.id);
    return verified;
  }

  /** The same check for the login of a token that was verified before. */
  async requireLogin(loginId: string, userId: string): Promise<void> {
    if (!(await this.logins.isLive(loginId, userId))) throw invalid('ended');
  }

  /** The user named by a request's token, before the login is looked up; null if there is none. */
  userOf(headers: IncomingHttpHeaders): string | null {
    const found = tokenOf(headers);
    if (found === null) return null;
    try {
      const { user, loginId } = this.decode(found.token);
      return this.logins.isKnownToHaveEnded(loginId) ? null : user.id;
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }

  private decode(token: string): VerifiedToken {
    const known = this.verified.get(token);
    if (known !== undefined && this.nowSeconds() * 1000 < known.expiresAt) return known;
    this.verified.delete(token);
    const verified = this.check(token);
    this.verified.set(token, verified);
    return verified;
  }

  private check(token: string): VerifiedToken {
    if (token.length > MAX_LENGTH) throw invalid('malformed');
    const { sub, email, fullName, login, exp } = this.claimsOf(token);
    if (!isUuid(sub) || !isUuid(login) || typeof email !== 'string' || typeof exp !== 'number')
      throw invalid('malformed');
    return {
      user: { id: sub, email, fullName: typeof fullName === 'string' ? fullName : null },
      loginId: login,
      expiresAt: exp * 1000,
    };
  }

  private claimsOf(token: string): Record<string, unknown> {
    try {
      return this.jwt.verify<Record<string, unknown>>(token, { clockTimestamp: this.nowSeconds() });
    } catch (error) {
      throw invalid(error instanceof Error && error.name === 'TokenExpiredError' ? 'expired' : 'malformed');
    }
  }

  private nowSeconds(): number {
    return Math.floor(this.clock.now() / 1000);
  }
}

const FAULTS = {
  expired: 'The access token has expired',
  malformed: 'The access token is not valid',
  ended: 'The login of this access token has ended',
};

function invalid(fault: keyof typeof FAULTS): DomainError {
  const Refusal = fault === 'malformed' ? DomainError : ExpiredToken;
  return new Refusal('INVALID_TOKEN', FAULTS[fault]);
}
