import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../domain-error.js';

/** Requests with a URL that is not below the base path. */
const outside = new WeakSet<IncomingMessage>();

/**
 * Returns Fastify's `rewriteUrl`, which strips the base path from each request URL.
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

/** Refuses requests outside of the base path. The log names the cause for a proxy that strips the prefix itself. */
export function refuseOutside(fastify: FastifyInstance, basePath: string): void {
  if (basePath === '') return;
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!outside.has(request.raw)) return done();
    done(new DomainError('NOT_FOUND', `This server's routes are below ${basePath} (PATCHBAY_BASE_PATH)`));
  });
}
