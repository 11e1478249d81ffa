import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type AccessContext, ENDS_ACCESS } from '../common/access.js';
import { ownersOnly, WorkspacesService } from './workspaces.service.js';

/**
 * Looks again whether the caller may do what the guard let pass: once the body has come, which may take its time, and
 * before the answer, which may have waited. So whoever is removed, or no owner any more, is refused from then on.
 */
@Injectable()
export class LastingAccess {
  constructor(
    private readonly reflector: Reflector,
    private readonly workspaces: WorkspacesService,
  ) {}

  /** Whether the answer, too, is only for whoever has access by then. */
  isForAnswer(context: ExecutionContext): boolean {
    return !this.reflector.get<boolean | undefined>(ENDS_ACCESS, context.getHandler());
  }

  async require({ user, workspaceId, needs }: AccessContext): Promise<void> {
    if (needs === undefined) return;
    const role = await this.workspaces.requireRole(workspaceId!, user!.id);
    if (needs === 'owner' && role !== 'owner') throw ownersOnly();
  }
}
