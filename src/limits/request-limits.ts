import { Injectable, SetMetadata } from '@nestjs/common';
import type { AccessedRequest } from '../common/access.js';
import { type AnonymousBucket, RateLimits } from './rate-limits.js';

/** A POST that only reads: its response may be as large as a file. */
const FILES_READ = /\/blobs\/read(?:$|\?)/;

export const RATE_BUCKET = 'patchbay:rate-bucket';

/** The rate limit of a public route, if not the default one. */
export const CountedAs = (bucket: AnonymousBucket): MethodDecorator => SetMetadata(RATE_BUCKET, bucket);

/** Counts requests, after the access check, which identifies the caller and counts its own refusals. */
@Injectable()
export class RequestLimits {
  constructor(private readonly limits: RateLimits) {}

  /** @param bucket counts a request without a user */
  count(request: AccessedRequest, bucket: AnonymousBucket): void {
    const { access, method, raw } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    if (access?.user) {
      this.limits.request(access.user.id, access.workspaceId, isRead);
      if (isRead || FILES_READ.test(request.url)) request.server.unreadAnswers.check(request);
    } else if (!isRead) this.limits.anonymous(raw, bucket);
  }
}
