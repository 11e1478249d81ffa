import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../domain-error.js';

/** Requests whose URL was not below the base path. */
const outside = new WeakSet<IncomingMessage>();

/**
 * Takes the base path off the URL of each request, as Fastify's `rewriteUrl`: behind it all know the routes alone.
 * @param basePath such as `/patchbay`, or empty.
 */
export function belowBasePath(basePath: string): (request: IncomingMessage) => string {
  return (request) => {
    const url = request.url ?? '/';
    const rest = url.startsWith(basePath) ? url.slice(basePath.length) : null;
    if (rest?.startsWith('/')) return rest;
    if (rest === '' || rest?.startsWith('?')) return `/${rest}`;
    outside.add(request);
    return url;
  };
}

/** Answers what came past the base path. A proxy that takes the prefix off is told what is wrong, in its own log. */
export function refuseOutside(fastify: FastifyInstance, basePath: string): void {
  if (basePath === '') return;
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!outside.has(request.raw)) return done();
    done(new DomainError('NOT_FOUND', `This server's routes are below ${basePath} (PATCHBAY_BASE_PATH)`));
  });
}
