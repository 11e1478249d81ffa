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
 * Room for open turns and their calls: of a workspace, and of each user, who alone can't take all of it [TURN-10]. What
 * this node is about to store counts already; other nodes see it once it is stored.
 */
@Injectable()
export class OpenTurnQuota {
  /** What is about to be stored, of each workspace and each user. */
  private readonly taken = new Map<string, OpenCount>();
  /** What is about to be stored of each turn: it takes room once, for the most calls that a request brings. */
  private readonly turns = new Map<string, { requests: number; calls: number }>();

  constructor(
    private readonly store: TurnStore,
    private readonly config: Config,
  ) {}

  /**
   * Takes room for a turn of so many calls, to be released once it is stored or is not going to be. RATE_LIMITED where
   * there is none.
   */
  async take(turn: TurnRef & Membership, calls: number): Promise<Reservation> {
    const { workspaceId, userId } = turn;
    const keys = [`workspace ${workspaceId}`, `user ${userId}`] as const;
    this.begin(turn, keys, calls);
    const taken = reservation(() => this.end(turn, keys));
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
      taken.release();
      throw error;
    }
    return taken;
  }

  private check(key: string, open: OpenCount, limit: OpenCount, whose: string): void {
    const taken = this.taken.get(key) ?? NONE;
    const over =
      open.turns + taken.turns > limit.turns
        ? `${limit.turns} open turns`
        : open.calls + taken.calls > limit.calls
          ? `${limit.calls} calls in open turns`
          : null;
    if (over === null) return;
    const message = `${whose} no room for another turn: the limit is ${over}. Wait until open turns end, or cancel some.`;
    throw new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  private begin(turn: TurnRef, keys: readonly string[], calls: number): void {
    const taken = this.turns.get(turnKey(turn)) ?? { requests: 0, calls: 0 };
    const next = { requests: taken.requests + 1, calls: Math.max(taken.calls, calls) };
    this.turns.set(turnKey(turn), next);
    for (const key of keys) this.add(key, taken.requests === 0 ? 1 : 0, next.calls - taken.calls);
  }

  /** Gives back what was taken for the turn, whatever the last of its requests brought. */
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
    const { turns: open, calls: openCalls } = this.taken.get(key) ?? NONE;
    if (open + turns === 0) this.taken.delete(key);
    else this.taken.set(key, { turns: open + turns, calls: openCalls + calls });
  }
}
