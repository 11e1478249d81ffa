import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { concatMap, finalize, materialize, dematerialize, type Observable } from 'rxjs';
import { RequestBodies } from './bodies/request-bodies.js';
import type { AccessedRequest } from './common/access.js';
import { refuseUndeclared } from './common/http/undeclared.js';
import { yieldIfBusy } from './common/yield-if-busy.js';
import { AccessRecheck } from './workspaces/access-recheck.js';

/**
 * Steps between the guards and the handler of a request, and its response on the way back. One interceptor for all of
 * it: each further one costs every request and relay event a promise chain.
 */
@Injectable()
export class RequestInterceptor implements NestInterceptor {
  constructor(
    private readonly bodies: RequestBodies,
    private readonly access: AccessRecheck,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle();
    const { access = {} } = context.switchToHttp().getRequest<AccessedRequest>();
    const release = await this.bodies.receive(context);
    try {
      await this.access.require(access);
      // Many requests of one user start in that user's time slices, whatever their handlers do synchronously.
      await yieldIfBusy();
      refuseUndeclared(context);
    } catch (error) {
      release();
      throw error;
    }
    const handled = next.handle().pipe(finalize(release));
    if (access.user === undefined || !this.access.isForAnswer(context)) return handled;
    // An error may reveal as much as a response.
    return handled.pipe(
      materialize(),
      concatMap(async (result) => {
        if (result.kind !== 'C') await this.access.require(access);
        return result;
      }),
      dematerialize(),
    );
  }
}
