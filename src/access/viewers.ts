import { Injectable } from '@nestjs/common';
import type { Membership } from '../storage/ports/turn.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { Viewer } from './visible-call.js';

/** Says what a member of a workspace is to a call or batch in it. */
@Injectable()
export class Viewers {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** @param userId whose call or batch it is. FORBIDDEN where the viewer is no member of the workspace. */
  async of(viewer: Membership, userId: string | null): Promise<Viewer> {
    if (viewer.userId === userId) return 'user';
    const role = await this.workspaces.requireRole(viewer.workspaceId, viewer.userId);
    return role === 'owner' ? 'owner' : 'member';
  }
}
