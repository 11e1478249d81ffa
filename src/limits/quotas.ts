import { Injectable } from '@nestjs/common';
import { Memberships } from '../access/memberships.js';
import type { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import type { Membership } from '../storage/ports/turn.js';
import { type Usage, UsageStore } from '../storage/ports/usage.store.js';
import { type Limits, limitsFrom, overLimit, type Scope } from './quota-limits.js';

const KINDS = ['bytes', 'files', 'versions', 'sessions'] as const;

/** Who writes, and what ends the write early: the call that it is part of has ended. */
export interface QuotaHolder extends Membership {
  signal?: AbortSignal | undefined;
}

/** What a write adds to what there is; what it takes away is not said. */
export type Addition = Partial<Usage>;

/** A write on its way into the store. */
interface Writing {
  readonly adds: Addition;
  /** Resolves once it has ended. */
  readonly over: Promise<void>;
}

/**
 * The door to every write of a member: who is none any more is refused, and so is what would be over the share of the
 * workspace or of the user. What is being written counts until it is in the store, so that writes at once do not pass a
 * limit together on this node; what fits, but not beside those, waits for them and is looked at again. Of several nodes
 * each may let as much pass as it has in hand.
 */
@Injectable()
export class Quotas {
  private readonly limits: Limits;
  /** What is being written, by workspace and by user, in the order in which it came. */
  private readonly writing = new Map<string, Set<Writing>>();

  constructor(
    private readonly memberships: Memberships,
    private readonly usage: UsageStore,
    config: Config,
  ) {
    this.limits = limitsFrom(config);
  }

  /** Does the write where its user is a member and there is room for what it adds. FORBIDDEN, TOO_LARGE. */
  async write<T>(who: QuotaHolder, adds: Addition, write: () => Promise<T>): Promise<T> {
    const { workspaceId, userId } = who;
    let end!: () => void;
    const over = new Promise<void>((resolve) => (end = resolve));
    const own: Writing = { adds, over };
    const [inWorkspace, ofUser] = [this.enter(workspaceId, own), this.enter(userId, own)];
    try {
      await this.requireMember(who);
      await this.requireRoom('user', userId, ofUser, adds);
      await this.requireRoom('workspace', workspaceId, inWorkspace, adds);
      who.signal?.throwIfAborted();
      return await write();
    } finally {
      this.leave(workspaceId, own);
      this.leave(userId, own);
      end();
    }
  }

  /** FORBIDDEN for whoever is no member, or is none any more. */
  async requireMember({ workspaceId, userId }: Membership): Promise<void> {
    await this.memberships.require({ workspaceId, userId });
  }

  /** @param earlier what was being written already when this write came */
  private async requireRoom(
    scope: Scope,
    id: string,
    earlier: readonly Writing[],
    adds: Addition,
  ): Promise<void> {
    if (KINDS.every((kind) => (adds[kind] ?? 0) <= 0)) return;
    for (;;) {
      // Before the store is asked: what ends meanwhile may count twice, and is looked at again, but never not at all.
      const inHand = earlier.filter((one) => this.writing.get(id)!.has(one));
      const stored = await (scope === 'user' ? this.usage.ofUser(id) : this.usage.ofWorkspace(id));
      const refusal = this.refusal(scope, inHand.map((one) => one.adds).reduce(sum, stored), adds);
      if (refusal === null) return;
      if (inHand.length === 0) throw refusal;
      const alone = this.refusal(scope, stored, adds);
      if (alone !== null) throw alone;
      await Promise.all(inHand.map(({ over }) => over));
    }
  }

  private refusal(scope: Scope, has: Usage, adds: Addition): DomainError | null {
    for (const kind of KINDS) {
      const added = adds[kind] ?? 0;
      const limit = this.limits[kind];
      const allowed = scope === 'user' ? limit.ofUser : limit.ofWorkspace;
      if (added > 0 && has[kind] + added > allowed) return overLimit(limit, scope, has[kind]);
    }
    return null;
  }

  /** Notes what is about to be written; gives what came before it. */
  private enter(id: string, writing: Writing): Writing[] {
    const all = this.writing.get(id) ?? new Set();
    const earlier = [...all];
    this.writing.set(id, all.add(writing));
    return earlier;
  }

  private leave(id: string, writing: Writing): void {
    const all = this.writing.get(id)!;
    all.delete(writing);
    if (all.size === 0) this.writing.delete(id);
  }
}

function sum(usage: Usage, adds: Addition): Usage {
  const next = { ...usage };
  for (const kind of KINDS) next[kind] += adds[kind] ?? 0;
  return next;
}
