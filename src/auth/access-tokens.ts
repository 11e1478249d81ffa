import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { JwtService } from '@nestjs/jwt';
import type { User } from '@patchbay/protocol';
import { LRUCache } from 'lru-cache';
import { Config } from '../config/config.js';
import { Bus } from '../events/bus.js';
import { EVERY_NODE } from '../events/channels.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { isUuid, newId } from '../common/ids.js';
import { tokenOf } from './request-token.js';

export interface VerifiedToken {
  user: User;
  /** The login that the token was given to; null where it names none. */
  loginId: string | null;
  /** Epoch ms. */
  expiresAt: number;
}

/** Tokens whose signature need not be looked at again, at most. */
const MAX_KNOWN = 1_000;

/** Of a token: one of ours has a name and an email, and is far below it. */
const MAX_LENGTH = 8_192;

/** A token of ours that is good no longer: whoever shows it guesses nothing. */
export class SpentToken extends DomainError {}

/** Signs and verifies access tokens: HS256, nothing else, and never without an end. */
@Injectable()
export class AccessTokens {
  readonly lifeSeconds: number;
  /** By the token. */
  private readonly verified = new LRUCache<string, VerifiedToken>({ max: MAX_KNOWN });
  /** Logins that have ended, and until when (epoch ms) that has to be known. */
  private readonly ended = new Map<string, number>();

  constructor(
    config: Config,
    private readonly clock: Clock,
    private readonly jwt: JwtService,
    bus: Bus,
  ) {
    bus.subscribe(EVERY_NODE, (message) => {
      if (message.type === 'login_ended') this.endLogin(message.loginId);
    });
    this.lifeSeconds = config.accessTokenMinutes * 60;
  }

  sign({ id, email, fullName }: User, loginId: string): string {
    const iat = this.nowSeconds();
    const exp = iat + this.lifeSeconds;
    return this.jwt.sign({ sub: id, email, fullName, login: loginId, jti: newId(), iat, exp });
  }

  /** Throws INVALID_TOKEN. */
  verify(token: string): VerifiedToken {
    const verified = this.decode(token);
    if (verified.loginId !== null && this.ended.has(verified.loginId)) throw invalid('ended');
    return verified;
  }

  /** The id of the user whose good token a request carries; null where it carries none. */
  userOf(headers: IncomingHttpHeaders): string | null {
    const found = tokenOf(headers);
    if (found === null) return null;
    try {
      return this.verify(found.token).user.id;
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }

  /** The tokens of a login are good no longer. It is remembered for as long as one of them could still be shown. */
  private endLogin(loginId: string): void {
    const now = this.clock.now();
    for (const [ended, until] of this.ended) if (until <= now) this.ended.delete(ended);
    this.ended.set(loginId, now + this.lifeSeconds * 1000);
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
    if (!isUuid(sub) || typeof email !== 'string' || typeof exp !== 'number') throw invalid('malformed');
    return {
      user: { id: sub, email, fullName: typeof fullName === 'string' ? fullName : null },
      loginId: typeof login === 'string' ? login : null,
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
  const Refusal = fault === 'malformed' ? DomainError : SpentToken;
  return new Refusal('INVALID_TOKEN', FAULTS[fault]);
}
