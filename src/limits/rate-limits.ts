import { Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { Config } from '../config/config.js';
import { DomainError } from '../common/domain-error.js';
import { ClientAddresses, networksOf } from '../common/http/client-address.js';
import { RateWindows } from './rate-windows.js';

const MINUTE_MS = 60_000;
/** Reads are cheaper than writes. */
const READS_PER_WRITE = 10;
/** A user's limit over all workspaces, as a multiple of that in one. */
const ALL_WORKSPACES = 2;
/** Requests per minute from one address without a token. */
const BUCKETS = {
  /** Register, logout. */
  anonymous: 300,
  /** Separate, since failed logins have limits of their own, and valid ones may come from the same address. */
  login: 1_500,
  /** Separate, so that other traffic of an address does not keep out users who are logged in. */
  refresh: 600,
  /** All requests without a token, including those for unknown routes. */
  tokenless: 3_000,
  /** Invalid tokens. */
  failed: 300,
};
/** Requests per minute of one user. */
const FORBIDDEN = 300;
const HANDSHAKES = 600;

/** The rate limits of routes without a token. */
export type AnonymousBucket = 'anonymous' | 'login' | 'refresh';

/** Request rate limits per minute. Each method counts once, and throws RATE_LIMITED beyond the limit. */
@Injectable()
export class RateLimits {
  constructor(
    private readonly config: Config,
    private readonly windows: RateWindows,
    private readonly addresses: ClientAddresses,
  ) {}

  /** A request of a user, in a workspace or outside of any. */
  request(userId: string, workspaceId: string | undefined, isRead: boolean): void {
    const { rateLimit } = this.config;
    if (rateLimit === null) return;
    const [kind, limit] = isRead ? ['reads', rateLimit * READS_PER_WRITE] : ['writes', rateLimit];
    this.count(`${kind}:${userId}:${workspaceId ?? ''}`, limit);
    this.count(`${kind}:${userId}`, limit * ALL_WORKSPACES);
  }

  /** A request to a route that needs no token. */
  anonymous(request: IncomingMessage, bucket: AnonymousBucket): void {
    this.countAddress(request, bucket);
  }

  /** A request without a token, to any route. */
  tokenless(request: IncomingMessage): void {
    this.countAddress(request, 'tokenless');
  }

  /** An invalid token. Valid ones are checked first, so that they work from any address. */
  failedToken(request: IncomingMessage): void {
    this.countAddress(request, 'failed');
  }

  /** A request of a user that was refused with FORBIDDEN. */
  forbidden(userId: string): void {
    this.count(`forbidden:${userId}`, FORBIDDEN);
  }

  /** A handshake of a relay client. */
  handshake(userId: string): void {
    this.count(`handshakes:${userId}`, HANDSHAKES);
  }

  private countAddress(request: IncomingMessage, bucket: keyof typeof BUCKETS): void {
    for (const { key, times } of networksOf(this.addresses.of(request)))
      this.count(`${bucket}:${key}`, BUCKETS[bucket] * times);
  }

  private count(key: string, limit: number): void {
    if (this.config.rateLimit === null) return;
    const retryAfterSeconds = this.windows.hit(key, MINUTE_MS, limit);
    if (retryAfterSeconds !== null) throw tooManyRequests(retryAfterSeconds);
  }
}

/** The refusal that says when to retry. */
export function tooManyRequests(retryAfterSeconds: number): DomainError {
  return new DomainError('RATE_LIMITED', `Too many requests; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}
