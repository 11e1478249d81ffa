import { Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { Config } from '../config/config.js';
import { DomainError } from '../common/domain-error.js';
import { ClientAddresses, networksOf } from '../common/http/client-address.js';
import { RateWindows } from './rate-windows.js';

const MINUTE_MS = 60_000;
/** Reads cost less than writes. */
const READS_PER_WRITE = 10;
/** What a user may do over all workspaces, by what they may in one. */
const ALL_WORKSPACES = 2;
/** A minute from one address, without a token. */
const BUCKETS = {
  /** Register, logout. */
  anonymous: 300,
  /** Apart, since wrong ones have bounds of their own, and right ones come from the same address. */
  login: 1_500,
  /** Apart, so that nobody at the same address keeps those out who are logged in. */
  refresh: 600,
  /** Whatever shows no token, routes that are not there included. */
  tokenless: 3_000,
  /** Tokens that are good for nothing. */
  failed: 300,
};
/** A minute of one user. */
const FORBIDDEN = 300;
const HANDSHAKES = 600;

/** Which limit a route without a token counts for. */
export type AnonymousBucket = 'anonymous' | 'login' | 'refresh';

/** How often a minute who may do what. Each method counts once, and throws RATE_LIMITED where that was once too often. */
@Injectable()
export class RateLimits {
  constructor(
    private readonly config: Config,
    private readonly windows: RateWindows,
    private readonly addresses: ClientAddresses,
  ) {}

  /** A request of a user, in a workspace or in none. */
  request(userId: string, workspaceId: string | undefined, isRead: boolean): void {
    const { rateLimit } = this.config;
    if (rateLimit === null) return;
    const [kind, limit] = isRead ? ['reads', rateLimit * READS_PER_WRITE] : ['writes', rateLimit];
    this.count(`${kind}:${userId}:${workspaceId ?? ''}`, limit);
    this.count(`${kind}:${userId}`, limit * ALL_WORKSPACES);
  }

  /** A request to a route that asks for no token. */
  anonymous(request: IncomingMessage, bucket: AnonymousBucket): void {
    this.countAddress(request, bucket);
  }

  /** A request that shows no token, wherever it goes. */
  tokenless(request: IncomingMessage): void {
    this.countAddress(request, 'tokenless');
  }

  /** A token that is none. Those that are good pass before this, so that nobody at the same address is kept out. */
  failedToken(request: IncomingMessage): void {
    this.countAddress(request, 'failed');
  }

  /** What a user asked for that is not theirs. */
  forbidden(userId: string): void {
    this.count(`forbidden:${userId}`, FORBIDDEN);
  }

  /** A relay client that connects. */
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

/** The refusal that says when to try again. */
export function tooManyRequests(retryAfterSeconds: number): DomainError {
  return new DomainError('RATE_LIMITED', `Too many requests; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}
