import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { defer, from, lastValueFrom, type Observable } from 'rxjs';
import { type AccessContext, type AccessedRequest, ENDS_ACCESS } from '../common/access.js';
import { ownersOnly, WorkspacesService } from './workspaces.service.js';

/**
 * Looks again whether the caller may do what the guard let pass: once the body has come, which may take its time, and
 * before the answer, which may have waited. So whoever is removed, or no owner any more, is refused from then on.
 */
@Injectable()
export class AccessInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly workspaces: WorkspacesService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const { access } = context.switchToHttp().getRequest<AccessedRequest>();
    if (access?.needs === undefined) return next.handle();
    const ends = this.reflector.get<boolean | undefined>(ENDS_ACCESS, context.getHandler()) ?? false;
    return defer(() => from(this.answer(access, next, ends)));
  }

  private async answer(access: AccessContext, next: CallHandler, ends: boolean): Promise<unknown> {
    await this.require(access);
    try {
      return (await lastValueFrom(next.handle(), { defaultValue: undefined })) as unknown;
    } finally {
      // An error may tell of what there is as well as an answer.
      if (!ends) await this.require(access);
    }
  }

  private async require({ user, workspaceId, needs }: AccessContext): Promise<void> {
    const role = await this.workspaces.requireRole(workspaceId!, user!.id);
    if (needs === 'owner' && role !== 'owner') throw ownersOnly();
  }
}
