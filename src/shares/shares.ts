import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import type { Membership } from '../storage/ports/turn.js';
import { type Usage, UsageStore } from '../storage/ports/usage.store.js';
import { WorkspaceStore } from '../storage/ports/workspaces.store.js';
import { type Limits, limitsFrom, overLimit, type Scope } from './limits.js';

const KINDS = ['bytes', 'files', 'versions', 'sessions'] as const;

/** Who writes, and what ends the write early: the call that it is part of has ended. */
export interface ShareHolder extends Membership {
  signal?: AbortSignal | undefined;
}

/** What a write adds to what there is; what it takes away is not said. */
export type Addition = Partial<Usage>;

/**
 * The door to every write of a member: who is none any more is refused, and so is what would be over the share of the
 * workspace or of the user. What is being written counts until it is in the store, so that writes at once do not pass a
 * limit together on this node; of several nodes each may let as much pass as it has in hand.
 */
@Injectable()
export class Shares {
  private readonly limits: Limits;
  /** What is being written, by workspace and by user. */
  private readonly pending = new Map<string, Usage>();

  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly usage: UsageStore,
    config: Config,
  ) {
    this.limits = limitsFrom(config);
  }

  /** Does the write where its user is a member and there is room for what it adds. FORBIDDEN, TOO_LARGE. */
  async write<T>(who: ShareHolder, adds: Addition, write: () => Promise<T>): Promise<T> {
    const { workspaceId, userId } = who;
    const [ofWorkspace, ofUser] = [this.add(workspaceId, adds), this.add(userId, adds)];
    try {
      await this.requireMember(who);
      await this.requireRoom('user', userId, ofUser, adds);
      await this.requireRoom('workspace', workspaceId, ofWorkspace, adds);
      who.signal?.throwIfAborted();
      return await write();
    } finally {
      this.subtract(workspaceId, adds);
      this.subtract(userId, adds);
    }
  }

  /** FORBIDDEN for whoever is no member, or is none any more. */
  async requireMember({ workspaceId, userId }: Membership): Promise<void> {
    if ((await this.workspaces.roleOf(workspaceId, userId)) !== null) return;
    throw new DomainError('FORBIDDEN', 'Access forbidden: User is not a member of this workspace');
  }

  /** @param before what was being written already when this write came. */
  private async requireRoom(scope: Scope, id: string, before: Usage, adds: Addition): Promise<void> {
    if (KINDS.every((kind) => (adds[kind] ?? 0) <= 0)) return;
    const stored = await (scope === 'user' ? this.usage.ofUser(id) : this.usage.ofWorkspace(id));
    for (const kind of KINDS) {
      const added = adds[kind] ?? 0;
      const has = stored[kind] + before[kind];
      const limit = this.limits[kind];
      const allowed = scope === 'user' ? limit.ofUser : limit.ofWorkspace;
      if (added > 0 && has + added > allowed) throw overLimit(limit, scope, has);
    }
  }

  /** Notes what is about to be written; gives what was noted before. */
  private add(id: string, adds: Addition): Usage {
    const before = this.pending.get(id) ?? NOTHING;
    this.pending.set(id, sum(before, adds, 1));
    return before;
  }

  private subtract(id: string, adds: Addition): void {
    const left = sum(this.pending.get(id) ?? NOTHING, adds, -1);
    if (KINDS.every((kind) => left[kind] === 0)) this.pending.delete(id);
    else this.pending.set(id, left);
  }
}

const NOTHING: Usage = { bytes: 0, files: 0, versions: 0, sessions: 0 };

function sum(usage: Usage, adds: Addition, sign: 1 | -1): Usage {
  const next = { ...usage };
  for (const kind of KINDS) next[kind] += sign * (adds[kind] ?? 0);
  return next;
}
