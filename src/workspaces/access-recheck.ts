import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Memberships } from '../access/memberships.js';
import { AuthService } from '../auth/auth.service.js';
import { type AccessContext, ENDS_ACCESS } from '../common/access.js';

/**
 * Repeats the guard's check after the body has arrived and before a delayed answer. So a caller is refused whose login
 * ended, who was removed, or who is no longer an owner.
 */
@Injectable()
export class AccessRecheck {
  constructor(
    private readonly reflector: Reflector,
    private readonly auth: AuthService,
    private readonly memberships: Memberships,
  ) {}

  /** Whether the answer also requires access at the time it is sent. */
  isForAnswer(context: ExecutionContext): boolean {
    return !this.reflector.get<boolean | undefined>(ENDS_ACCESS, context.getHandler());
  }

  async require({ user, loginId, workspaceId, needs }: AccessContext): Promise<void> {
    if (user === undefined) return;
    await this.auth.requireLogin(loginId!, user.id);
    if (needs !== undefined)
      await this.memberships.require({ workspaceId: workspaceId!, userId: user.id }, needs);
  }
}
