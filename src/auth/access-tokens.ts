import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { User } from '@patchbay/protocol';
import { BoundedMap } from '../common/bounded-map.js';
import { Config } from '../config/config.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { isUuid, newId } from '../common/ids.js';

export interface VerifiedToken {
  user: User;
  /** Epoch ms. */
  expiresAt: number;
}

/** Tokens whose signature need not be looked at again, at most. */
const MAX_KNOWN = 1_000;

/** Signs and verifies access tokens: HS256, nothing else, and never without an end. */
@Injectable()
export class AccessTokens {
  readonly lifeSeconds: number;
  /** By the token. */
  private readonly verified = new BoundedMap<string, VerifiedToken>(MAX_KNOWN);

  constructor(
    config: Config,
    private readonly clock: Clock,
    private readonly jwt: JwtService,
  ) {
    this.lifeSeconds = config.accessTokenMinutes * 60;
  }

  sign({ id, email, fullName }: User): string {
    const iat = this.nowSeconds();
    return this.jwt.sign({ sub: id, email, fullName, jti: newId(), iat, exp: iat + this.lifeSeconds });
  }

  /** Throws INVALID_TOKEN. */
  verify(token: string): VerifiedToken {
    const known = this.verified.get(token);
    if (known !== undefined && this.nowSeconds() * 1000 < known.expiresAt) return known;
    this.verified.delete(token);
    const verified = this.check(token);
    this.verified.set(token, verified);
    return verified;
  }

  private check(token: string): VerifiedToken {
    const { sub, email, fullName, exp } = this.claimsOf(token);
    if (!isUuid(sub) || typeof email !== 'string' || typeof exp !== 'number') throw invalid('malformed');
    return {
      user: { id: sub, email, fullName: typeof fullName === 'string' ? fullName : null },
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

function invalid(fault: 'expired' | 'malformed'): DomainError {
  const message = fault === 'expired' ? 'The access token has expired' : 'The access token is not valid';
  return new DomainError('INVALID_TOKEN', message);
}
