import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Role } from '@patchbay/protocol';
import { Model } from 'mongoose';
import { notMember } from '../../common/domain-error.js';
import type { Membership } from '../ports/turn.js';
import { type WorkspaceDocument, WORKSPACES } from './collections.js';
import { MongoDatabase } from './database.js';
import { Gathered } from './gathered.js';
import { eq, membersAmong } from './values.js';

/** Memberships of workspaces. Concurrent queries are batched. */
@Injectable()
export class Members {
  private readonly roles = new Gathered<Membership, Role | null>((requests) => this.rolesOf(requests));

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(WORKSPACES) private readonly workspaces: Model<WorkspaceDocument>,
  ) {}

  async roleOf({ workspaceId, userId }: Membership): Promise<Role | null> {
    return this.roles.of({ workspaceId: eq(workspaceId).$eq, userId: eq(userId).$eq });
  }

  /** Call right before a write, which cannot span the workspace: FORBIDDEN unless the user is a member now. */
  async require(who: Membership): Promise<void> {
    if ((await this.roleOf(who)) === null) throw notMember();
  }

  private async rolesOf(requests: readonly Membership[]): Promise<(Role | null)[]> {
    const ids = new Set(requests.map(({ workspaceId }) => workspaceId));
    const users = new Set(requests.map(({ userId }) => userId));
    // Reads only the requested members of a large workspace.
    const found = await this.database.attempt(() =>
      this.workspaces.aggregate<Pick<WorkspaceDocument, '_id' | 'members'>>([
        { $match: { _id: { $in: [...ids] } } },
        { $project: { members: membersAmong(users) } },
      ]),
    );
    const byId = new Map(found.map((workspace) => [workspace._id, workspace.members]));
    return requests.map(({ workspaceId, userId }) => {
      const member = byId.get(workspaceId)?.find((one) => one.userId === userId);
      return member?.role ?? null;
    });
  }
}
