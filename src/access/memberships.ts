import { Injectable } from '@nestjs/common';
import type { Role } from '@patchbay/protocol';
import { Stopwatch } from '../common/clock.js';
import { notMember, ownersOnly } from '../common/domain-error.js';
import { userKey } from '../common/keys.js';
import { RecentReads } from '../common/recent-reads.js';
import { Bus } from '../events/bus.js';
import { EVERY_NODE } from '../events/channels.js';
import type { Membership } from '../storage/ports/turn.js';
import { WorkspaceStore } from '../storage/ports/workspaces.store.js';

/**
 * Answers membership checks. An answer is reused for at most 4 s unless it was revoked. Writes do not rely on it: each
 * checks the membership in its own commit.
 */
@Injectable()
export class Memberships {
  private readonly roles: RecentReads<Role | null, Membership>;

  constructor(
    private readonly store: WorkspaceStore,
    stopwatch: Stopwatch,
    bus: Bus,
  ) {
    const read = ({ workspaceId, userId }: Membership) => this.store.roleOf(workspaceId, userId);
    this.roles = new RecentReads(read, userKey, () => stopwatch.elapsed());
    bus.subscribe(EVERY_NODE, (message) => {
      if (message.type === 'member_removed') this.changed(message);
    });
  }

  /**
   * Reads the role from the store. FORBIDDEN if the user lacks the required role, whether the workspace exists or not.
   */
  async ask(membership: Membership, needs: Role = 'member'): Promise<Role> {
    return permitted(await this.roles.renew(membership), needs);
  }

  /** Reuses an answer of the last 4 s if it permits access; a refusal is always based on a fresh read. */
  async require(membership: Membership, needs: Role = 'member'): Promise<Role> {
    const known = this.roles.known(membership);
    if (known !== undefined && !satisfies(known, needs)) return this.ask(membership, needs);
    return permitted(await this.roles.get(membership), needs);
  }

  /** Whether the user is a member, read from the store now. */
  async isMember(membership: Membership): Promise<boolean> {
    return (await this.roles.renew(membership)) !== null;
  }

  /** Drops cached answers after the membership or its role changed in the store. */
  changed(membership: Membership): void {
    this.roles.drop(membership);
  }
}

function satisfies(role: Role | null, needs: Role): boolean {
  return role === 'owner' || role === needs;
}

function permitted(role: Role | null, needs: Role): Role {
  if (role === null) throw notMember();
  if (!satisfies(role, needs)) throw ownersOnly();
  return role;
}
