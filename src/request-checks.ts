import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { releaseBody } from './bodies/held-bodies.js';
import { RequestBodies } from './bodies/request-bodies.js';
import type { AccessedRequest } from './common/access.js';
import { DomainError } from './common/domain-error.js';
import { parseRequestInSlices } from './common/request-parser.js';
import { yieldIfBusy } from './common/yield-if-busy.js';
import { RequestLimits } from './limits/request-limits.js';
import type { RouteRules } from './route-rules.js';
import { AccessCheck } from './workspaces/access-check.js';

/** Steps between the router and the handler of a request, and before its answer is sent. */
@Injectable()
export class RequestChecks {
  constructor(
    private readonly access: AccessCheck,
    private readonly limits: RequestLimits,
    private readonly bodies: RequestBodies,
  ) {}

  /** Not guards, interceptors and pipes of Nest: those cost each request a chain of promises (bench:relay). */
  install(fastify: FastifyInstance): void {
    fastify.addHook('preHandler', async (request, reply) => {
      const { rules } = request.routeOptions.config;
      if (rules === undefined) return;
      if (hasEmptyParameter(request)) throw new DomainError('NOT_FOUND', 'No such route');
      await this.prepare(request, reply, rules);
    });
    fastify.addHook('onSend', (request: AccessedRequest, reply, payload, done) => {
      releaseBody(reply.raw);
      const { access } = request;
      if (access?.isForAnswer !== true) return done(null, payload);
      access.isForAnswer = false;
      // An error may reveal as much as a response.
      this.access.repeat(access).then(() => done(null, payload), done);
    });
  }

  private async prepare(request: AccessedRequest, reply: FastifyReply, rules: RouteRules): Promise<void> {
    await this.access.admit(request, rules.access);
    this.limits.count(request, rules.bucket);
    await this.bodies.receive(request, reply, rules.hasRawBody);
    const { access } = request;
    if (access !== undefined) await this.access.repeat(access);
    // Many requests of one user start in that user's time slices, whatever their handlers do synchronously.
    await yieldIfBusy();
    if (rules.query !== null) request.query = await parseRequestInSlices(rules.query, request.query);
    if (rules.body !== null) request.body = await parseRequestInSlices(rules.body, request.body);
    if (access !== undefined) access.isForAnswer = !rules.endsAccess;
  }
}

/** Fastify's router matches an empty path segment, which no route takes. Only a path below the route may be empty. */
function hasEmptyParameter({ params }: FastifyRequest): boolean {
  return Object.entries(params as object).some(([name, value]) => value === '' && name !== '*');
}
