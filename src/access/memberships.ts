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
 * May they? Asked once for a request or connection, when it begins; what it does after that goes by that answer for 4 s at
 * most, unless it was revoked. A write does not rest on this: each checks the membership in its own commit.
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
   * Asks the store, for what begins. FORBIDDEN where the user has not the role that is needed, whether the workspace exists
   * or not.
   */
  async ask(who: Membership, needs: Role = 'member'): Promise<Role> {
    return permitted(await this.roles.renew(who), needs);
  }

  /** The same by an answer that is at most 4 s old, where one permits it: what refuses is always read anew. */
  async require(who: Membership, needs: Role = 'member'): Promise<Role> {
    const known = this.roles.known(who);
    if (known !== undefined && !satisfies(known, needs)) return this.ask(who, needs);
    return permitted(await this.roles.get(who), needs);
  }

  /** Whether the store has the user as a member now. */
  async isMember(who: Membership): Promise<boolean> {
    return (await this.roles.renew(who)) !== null;
  }

  /** The membership or its role was changed in the store: from here on nothing goes by what was read before. */
  changed(who: Membership): void {
    this.roles.drop(who);
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
