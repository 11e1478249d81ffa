import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import type { AccessedRequest } from './access.js';
import { DomainError } from './domain-error.js';
import { RateWindows } from './rate-windows.js';

const MINUTE_MS = 60_000;
/** Reads cost less than writes. */
const READS_PER_WRITE = 10;
/** Writes a minute from one address without a token: register, login, refresh. */
const ANONYMOUS_PER_MINUTE = 300;

/**
 * Bounds requests a minute: a member's writes and reads, over all routes, in each workspace for itself; and of those
 * who carry no token the writes of an address. Runs after the access guard, which says who it is.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly config: Config,
    private readonly windows: RateWindows,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { rateLimit } = this.config;
    if (rateLimit === null || context.getType() !== 'http') return true;
    const { access, method, ip } = context.switchToHttp().getRequest<AccessedRequest>();
    const isRead = method === 'GET' || method === 'HEAD';
    if (access?.user) {
      const member = `${access.user.id}:${access.workspaceId ?? ''}`;
      if (isRead) this.count(`reads:${member}`, rateLimit * READS_PER_WRITE);
      else this.count(`writes:${member}`, rateLimit);
    } else if (!isRead) {
      this.count(`anonymous:${ip}`, ANONYMOUS_PER_MINUTE);
    }
    return true;
  }

  private count(key: string, limit: number): void {
    const retryAfterSeconds = this.windows.hit(key, MINUTE_MS, limit);
    if (retryAfterSeconds !== null) throw tooManyRequests(retryAfterSeconds);
  }
}

/** The refusal that says when to try again. */
export function tooManyRequests(retryAfterSeconds: number): DomainError {
  return new DomainError('RATE_LIMITED', `Too many requests; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}
