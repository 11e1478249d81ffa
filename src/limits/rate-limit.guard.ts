import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AccessedRequest } from '../common/access.js';
import { type AnonymousBucket, RateLimits } from './rate-limits.js';

/** A POST that reads: its answer may be as large as a file's. */
const FILES_READ = /\/blobs\/read(?:$|\?)/;

const BUCKET = 'patchbay:rate-bucket';

/** The limit that a public route counts for, where it is not that of all others. */
export const CountedAs = (bucket: AnonymousBucket): MethodDecorator => SetMetadata(BUCKET, bucket);

/** Counts requests. Runs after the access guard, which says who it is and counts what it refuses itself. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<AccessedRequest>();
    const { access, method, raw } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    if (access?.user) {
      this.limits.request(access.user.id, access.workspaceId, isRead);
      if (isRead || FILES_READ.test(request.url)) request.server.unreadAnswers.check(request);
    } else if (!isRead) {
      const bucket = this.reflector.get<AnonymousBucket | undefined>(BUCKET, context.getHandler());
      this.limits.anonymous(raw, bucket ?? 'anonymous');
    }
    return true;
  }
}
