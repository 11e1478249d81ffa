import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthService } from '../auth/auth.service.js';
import { type AccessContext, ENDS_ACCESS } from '../common/access.js';
import { ownersOnly, WorkspacesService } from './workspaces.service.js';

/**
 * Checks again what the guard has let pass: after the body has arrived, which may take minutes, and before the answer,
 * which may have waited. So a caller is refused whose login has ended, who was removed, or who is no longer an owner.
 */
@Injectable()
export class LastingAccess {
  constructor(
    private readonly reflector: Reflector,
    private readonly auth: AuthService,
    private readonly workspaces: WorkspacesService,
  ) {}

  /** Whether the answer, too, is only for whoever has access by then. */
  isForAnswer(context: ExecutionContext): boolean {
    return !this.reflector.get<boolean | undefined>(ENDS_ACCESS, context.getHandler());
  }

  async require({ user, loginId, workspaceId, needs }: AccessContext): Promise<void> {
    if (user === undefined) return;
    await this.auth.requireLogin(loginId!, user.id);
    if (needs === undefined) return;
    const role = await this.workspaces.requireRole(workspaceId!, user.id);
    if (needs === 'owner' && role !== 'owner') throw ownersOnly();
  }
}
