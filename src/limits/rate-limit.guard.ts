import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AccessedRequest } from '../common/access.js';
import { type AnonymousBucket, RateLimits } from './rate-limits.js';

/** A POST that only reads: its response may be as large as a file. */
const FILES_READ = /\/blobs\/read(?:$|\?)/;

const BUCKET = 'patchbay:rate-bucket';

/** The rate limit of a public route, if not the default one. */
export const CountedAs = (bucket: AnonymousBucket): MethodDecorator => SetMetadata(BUCKET, bucket);

/** Counts requests. Runs after the access guard, which identifies the caller and counts its own refusals. */
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
