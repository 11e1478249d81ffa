import { Injectable } from '@nestjs/common';
import type { Membership } from '../storage/ports/turn.js';
import { Memberships } from './memberships.js';
import type { Viewer } from './visible-call.js';

/** Resolves what a member of a workspace is to a call or batch in it. */
@Injectable()
export class Viewers {
  constructor(private readonly memberships: Memberships) {}

  /** @param userId user of the call or batch. FORBIDDEN if the viewer is not a member of the workspace. */
  async of(viewer: Membership, userId: string | null): Promise<Viewer> {
    if (viewer.userId === userId) return 'user';
    return this.memberships.require(viewer);
  }
}
