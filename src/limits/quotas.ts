import { Injectable } from '@nestjs/common';
import { Memberships } from '../access/memberships.js';
import type { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import type { Membership } from '../storage/ports/turn.js';
import { type Usage, UsageStore } from '../storage/ports/usage.store.js';
import { type Limits, limitsFrom, overLimit, type Scope } from './quota-limits.js';

const KINDS = ['bytes', 'files', 'versions', 'sessions'] as const;

/** Who writes, and a signal that ends the wait: the call that the write is part of has ended. */
export interface QuotaHolder extends Membership {
  signal?: AbortSignal | undefined;
}

/** What a write adds to the usage; what it frees is not declared. */
export type Addition = Partial<Usage>;

/** A write in progress. */
interface Writing {
  readonly adds: Addition;
  /** Resolves when the write has ended. */
  readonly ended: Promise<void>;
}

/**
 * Every write of a member goes through `write`, which checks membership and the quotas of workspace and user. Writes in
 * progress count, so that concurrent writes cannot exceed a limit together on this node. A write that fits only without
 * those waits for them and is checked again. Several nodes may each exceed a limit by their own writes in progress.
 */
@Injectable()
export class Quotas {
  private readonly limits: Limits;
  /** Writes in progress, by workspace and by user, in order of arrival. */
  private readonly writing = new Map<string, Set<Writing>>();

  constructor(
    private readonly memberships: Memberships,
    private readonly usage: UsageStore,
    config: Config,
  ) {
    this.limits = limitsFrom(config);
  }

  /** Runs the write if its user is a member and its addition fits the quotas. Throws FORBIDDEN or TOO_LARGE. */
  async write<T>(holder: QuotaHolder, adds: Addition, write: () => Promise<T>): Promise<T> {
    const { workspaceId, userId } = holder;
    let resolveEnded!: () => void;
    const ended = new Promise<void>((resolve) => (resolveEnded = resolve));
    const writing: Writing = { adds, ended };
    const [inWorkspace, ofUser] = [this.enter(workspaceId, writing), this.enter(userId, writing)];
    try {
      await this.requireMember(holder);
      await this.requireQuota('user', userId, ofUser, adds);
      await this.requireQuota('workspace', workspaceId, inWorkspace, adds);
      holder.signal?.throwIfAborted();
      return await write();
    } finally {
      this.leave(workspaceId, writing);
      this.leave(userId, writing);
      resolveEnded();
    }
  }

  /** Throws FORBIDDEN unless the user is a member now. */
  async requireMember({ workspaceId, userId }: Membership): Promise<void> {
    await this.memberships.require({ workspaceId, userId });
  }

  /** @param earlier writes in progress when this write arrived */
  private async requireQuota(
    scope: Scope,
    id: string,
    earlier: readonly Writing[],
    adds: Addition,
  ): Promise<void> {
    if (KINDS.every((kind) => (adds[kind] ?? 0) <= 0)) return;
    for (;;) {
      // Taken before the store is read: a write that ends in between counts twice, but is never missed.
      const pending = earlier.filter((one) => this.writing.get(id)!.has(one));
      const stored = await (scope === 'user' ? this.usage.ofUser(id) : this.usage.ofWorkspace(id));
      const refusal = this.refusal(scope, pending.map((one) => one.adds).reduce(sum, stored), adds);
      if (refusal === null) return;
      if (pending.length === 0) throw refusal;
      const refusalAlone = this.refusal(scope, stored, adds);
      if (refusalAlone !== null) throw refusalAlone;
      await Promise.all(pending.map(({ ended }) => ended));
    }
  }

  private refusal(scope: Scope, usage: Usage, adds: Addition): DomainError | null {
    for (const kind of KINDS) {
      const added = adds[kind] ?? 0;
      const limit = this.limits[kind];
      const allowed = scope === 'user' ? limit.ofUser : limit.ofWorkspace;
      if (added > 0 && usage[kind] + added > allowed) return overLimit(limit, scope, usage[kind]);
    }
    return null;
  }

  /** Registers a write; returns the earlier ones. */
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
