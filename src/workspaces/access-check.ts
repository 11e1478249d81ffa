import { Injectable } from '@nestjs/common';
import type { ErrorCode, User } from '@patchbay/protocol';
import { Memberships } from '../access/memberships.js';
import { ExpiredToken, type VerifiedToken } from '../auth/access-tokens.js';
import { AuthService } from '../auth/auth.service.js';
import { isForeignOrigin, tokenOf } from '../auth/request-token.js';
import type { AccessContext, AccessedRequest, AccessRule } from '../common/access.js';
import { DomainError } from '../common/domain-error.js';
import { isUuid } from '../common/ids.js';
import { RateLimits } from '../limits/rate-limits.js';
import { Config } from '../config/config.js';

/** Enforces the `@Access` rules of routes. */
@Injectable()
export class AccessCheck {
  constructor(
    private readonly config: Config,
    private readonly auth: AuthService,
    private readonly memberships: Memberships,
    private readonly limits: RateLimits,
  ) {}

  /** Identifies the caller in `request.access`, and refuses one whom the rule excludes. No rule excludes everybody. */
  async admit(request: AccessedRequest, rule: AccessRule | undefined): Promise<void> {
    if (rule === 'public') return;
    if (rule === undefined || rule === 'client') throw new DomainError('FORBIDDEN', 'Access forbidden');

    const { user, loginId } = await this.tokenOf(request);
    request.access = { user, loginId };
    if (rule === 'user') return;
    const membership = await this.membershipOf(request, user, rule).catch((error: unknown) => {
      if (isRefusal(error, 'FORBIDDEN')) this.limits.forbidden(user.id);
      throw error;
    });
    Object.assign(request.access, membership);
  }

  /**
   * Repeats the check after the body has arrived and before a delayed answer. So a caller is refused whose login
   * ended, who was removed, or who is no longer an owner.
   */
  async repeat({ user, loginId, workspaceId, needs }: AccessContext): Promise<void> {
    if (user === undefined) return;
    await this.auth.requireLogin(loginId!, user.id);
    if (needs !== undefined)
      await this.memberships.require({ workspaceId: workspaceId!, userId: user.id }, needs);
  }

  private async tokenOf({ headers, method, raw }: AccessedRequest): Promise<VerifiedToken> {
    const found = tokenOf(headers);
    if (found === null) throw noValidToken();
    const verified = await this.auth.verifyAccessToken(found.token).catch((error: unknown) => {
      if (!isRefusal(error, 'INVALID_TOKEN')) throw error;
      // It was a valid token once; its owner learns that it expired.
      if (error instanceof ExpiredToken) throw error;
      this.limits.failedToken(raw);
      throw noValidToken();
    });
    const isWrite = method !== 'GET' && method !== 'HEAD';
    // Browsers attach cookies to requests of foreign pages, but send headers only for trusted ones.
    if (found.source === 'cookie' && isWrite && isForeignOrigin(headers, this.config.origins)) {
      throw new DomainError('FORBIDDEN', 'Access forbidden: this origin may not write with a cookie');
    }
    return verified;
  }

  private async membershipOf(
    { params }: AccessedRequest,
    user: User,
    rule: 'member' | 'owner',
  ): Promise<AccessContext> {
    const { workspaceId } = params as { workspaceId?: string };
    if (!isUuid(workspaceId)) {
      throw new DomainError('VALIDATION_ERROR', 'The workspace id is not a UUID', {
        fields: { workspaceId: 'is not a UUID' },
      });
    }
    const membership = { workspaceId: workspaceId.toLowerCase(), userId: user.id };
    await this.memberships.ask(membership, rule);
    return { workspaceId: membership.workspaceId, needs: rule };
  }
}

function isRefusal(error: unknown, code: ErrorCode): boolean {
  return error instanceof DomainError && error.code === code;
}

function noValidToken(): DomainError {
  return new DomainError('INVALID_TOKEN', 'No valid token found in Authorization header or cookie');
}
