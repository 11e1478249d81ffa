import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import type { Membership } from '../storage/ports/turn.js';
import { HOUR_MS, HOURS_OF_DAY, type HourOfBytes, UsageStore } from '../storage/ports/usage.store.js';

/** So long a sum serves that is far from its limit, in ms. */
const FRESH_MS = 1000;
/** What results, and other nodes, add at most while a sum is fresh: with more room than that it serves. */
const HEADROOM = 512 * 1024 ** 2;
/** Kept sums of more scopes than that are let go, to be read again. */
const MOST_SCOPES = 10_000;
/** Where only what is about to be stored is in the way. */
const SOON_SECONDS = 5;

/** Whose day it is, and how the refusal speaks of it. */
interface Scope {
  key: string;
  limit: number;
  variable: string;
  whose: string;
  read: (sinceHour: number) => Promise<HourOfBytes[]>;
}

/** What is known of a scope. */
interface Day {
  /** Bytes that are about to be stored. */
  pending: number;
  /** What was in the store at `readAt` (epoch ms), with what this node has added since. */
  stored: number;
  readAt: number;
}

/**
 * What a user, and a workspace, may add to turns within 24 hours, by whole hours [SHARE-5]. A turn is refused before its
 * work; what an accepted one brings later counts and is never refused. The store counts, so that it holds over all nodes;
 * what is about to be stored counts on this one. A small turn far from the limits reads nothing.
 */
@Injectable()
export class TurnBytes {
  private readonly days = new Map<string, Day>();

  constructor(
    private readonly usage: UsageStore,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes room for a turn of about so many bytes, until the function that it gives is called: the turn is stored then, or
   * is not going to be. RATE_LIMITED until enough of the day is over; TOO_LARGE for what no day has room for.
   */
  async take(who: Membership, bytes: number): Promise<() => void> {
    const scopes = this.scopesOf(who);
    if (this.days.size > MOST_SCOPES) this.forget();
    for (const { key } of scopes) this.dayOf(key).pending += bytes;
    let isTaken = true;
    const giveBack = (): void => {
      if (isTaken) for (const { key } of scopes) this.settle(key, bytes);
      isTaken = false;
    };
    try {
      for (const scope of scopes) await this.requireRoom(scope, bytes, giveBack);
    } catch (error) {
      giveBack();
      throw error;
    }
    return giveBack;
  }

  private scopesOf({ workspaceId, userId }: Membership): Scope[] {
    const { maxTurnBytesADay, maxUserTurnBytesADay } = this.config;
    return [
      {
        ...{
          key: `user ${userId}`,
          limit: maxUserTurnBytesADay,
          whose: 'You have added, in all workspaces,',
        },
        variable: 'PATCHBAY_MAX_USER_TURN_BYTES_A_DAY',
        read: (since) => this.usage.turnBytesOfUser(userId, since),
      },
      {
        ...{ key: `workspace ${workspaceId}`, limit: maxTurnBytesADay, whose: 'The members have added' },
        variable: 'PATCHBAY_MAX_TURN_BYTES_A_DAY',
        read: (since) => this.usage.turnBytesOfWorkspace(workspaceId, since),
      },
    ];
  }

  private async requireRoom(scope: Scope, bytes: number, giveBack: () => void): Promise<void> {
    const { key, limit } = scope;
    if (bytes > limit) throw refusal('TOO_LARGE', scope, bytes, 0);
    const day = this.dayOf(key);
    const isFresh = this.clock.now() - day.readAt < FRESH_MS;
    if (isFresh && day.stored + day.pending + HEADROOM <= limit) return;
    const hours = await scope.read(this.firstHour());
    day.stored = hours.reduce((sum, hour) => sum + hour.bytes, 0);
    day.readAt = this.clock.now();
    const over = day.stored + day.pending - limit;
    if (over <= 0) return;
    // Before anybody else looks: of many that come in one moment it keeps out no more than are too many.
    giveBack();
    throw refusal('RATE_LIMITED', scope, bytes, day.stored, this.secondsUntil(hours, over));
  }

  /** The first hour of the day that ends with this one. */
  private firstHour(): number {
    return Math.floor(this.clock.now() / HOUR_MS) - HOURS_OF_DAY + 1;
  }

  /** Until so many bytes are no part of the day any more. */
  private secondsUntil(hours: readonly HourOfBytes[], over: number): number {
    let freed = 0;
    const last = hours.find(({ bytes }) => (freed += bytes) >= over);
    if (last === undefined) return SOON_SECONDS;
    return Math.ceil(((last.hour + HOURS_OF_DAY) * HOUR_MS - this.clock.now()) / 1000);
  }

  private dayOf(key: string): Day {
    const known = this.days.get(key);
    if (known) return known;
    const day = { pending: 0, stored: 0, readAt: -Infinity };
    this.days.set(key, day);
    return day;
  }

  /** What was about to be stored is, for all that this node knows until it reads again. */
  private settle(key: string, bytes: number): void {
    const day = this.dayOf(key);
    day.pending -= bytes;
    day.stored += bytes;
  }

  private forget(): void {
    for (const [key, { pending }] of this.days) if (pending === 0) this.days.delete(key);
  }
}

function refusal(
  code: 'RATE_LIMITED' | 'TOO_LARGE',
  { whose, limit, variable }: Scope,
  bytes: number,
  has: number,
  retryAfterSeconds?: number,
): DomainError {
  const when = retryAfterSeconds === undefined ? 'Send less' : `Try again in ${retryAfterSeconds} seconds`;
  const message =
    `${whose} ${has} bytes of turns within a day, of ${limit} that are allowed: there is no room for about ${bytes} ` +
    `more. ${when}, or have an operator raise ${variable}.`;
  return new DomainError(code, message, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    details: { limit: variable, has, allowed: limit },
  });
}
