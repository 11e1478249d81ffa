import { Injectable } from '@nestjs/common';
import { turnKey } from '../common/keys.js';
import { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import type { Membership, TurnRef } from '../storage/ports/turn.js';
import { type OpenCount, TurnStore } from '../storage/ports/turns.store.js';
import { type Reservation, reservation } from './reservation.js';

const RETRY_AFTER_SECONDS = 5;
const NONE: OpenCount = { turns: 0, calls: 0 };

/**
 * Limits open turns and their calls: per workspace, and lower per user [TURN-10]. Turns that this node is about to
 * store count already; those of other nodes count once they are stored.
 */
@Injectable()
export class OpenTurnQuota {
  /** Turns about to be stored, by workspace and by user. */
  private readonly reserved = new Map<string, OpenCount>();
  /** Requests about to store each turn: the turn counts once, with the most calls of any request. */
  private readonly turns = new Map<string, { requests: number; calls: number }>();

  constructor(
    private readonly store: TurnStore,
    private readonly config: Config,
  ) {}

  /** Reserves a turn with so many calls, until it is stored or given up. RATE_LIMITED beyond the limit. */
  async reserve(turn: TurnRef & Membership, calls: number): Promise<Reservation> {
    const { workspaceId, userId } = turn;
    const keys = [`workspace ${workspaceId}`, `user ${userId}`] as const;
    this.begin(turn, keys, calls);
    const held = reservation(() => this.end(turn, keys));
    try {
      const [ofWorkspace, ofUser] = await Promise.all([
        this.store.openOfWorkspace(workspaceId),
        this.store.openOfUser(userId),
      ]);
      const { maxOpenTurns, maxOpenCalls, maxUserOpenTurns, maxUserOpenCalls } = this.config;
      const ofAll = 'You have, in all workspaces,';
      this.check(keys[1], ofUser, { turns: maxUserOpenTurns, calls: maxUserOpenCalls }, ofAll);
      this.check(keys[0], ofWorkspace, { turns: maxOpenTurns, calls: maxOpenCalls }, 'The workspace has');
    } catch (error) {
      held.release();
      throw error;
    }
    return held;
  }

  private check(key: string, open: OpenCount, limit: OpenCount, subject: string): void {
    const reserved = this.reserved.get(key) ?? NONE;
    const exceeded =
      open.turns + reserved.turns > limit.turns
        ? `${limit.turns} open turns`
        : open.calls + reserved.calls > limit.calls
          ? `${limit.calls} calls in open turns`
          : null;
    if (exceeded === null) return;
    const message = `${subject} no room for another turn: the limit is ${exceeded}. Wait until open turns end, or cancel some.`;
    throw new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  private begin(turn: TurnRef, keys: readonly string[], calls: number): void {
    const previous = this.turns.get(turnKey(turn)) ?? { requests: 0, calls: 0 };
    const next = { requests: previous.requests + 1, calls: Math.max(previous.calls, calls) };
    this.turns.set(turnKey(turn), next);
    for (const key of keys) this.add(key, previous.requests === 0 ? 1 : 0, next.calls - previous.calls);
  }

  /** Releases what was reserved for the turn when the last of its requests ends. */
  private end(turn: TurnRef, keys: readonly string[]): void {
    const { requests, calls } = this.turns.get(turnKey(turn))!;
    if (requests > 1) {
      this.turns.set(turnKey(turn), { requests: requests - 1, calls });
      return;
    }
    this.turns.delete(turnKey(turn));
    for (const key of keys) this.add(key, -1, -calls);
  }

  private add(key: string, turns: number, calls: number): void {
    const { turns: open, calls: openCalls } = this.reserved.get(key) ?? NONE;
    if (open + turns === 0) this.reserved.delete(key);
    else this.reserved.set(key, { turns: open + turns, calls: openCalls + calls });
  }
}
