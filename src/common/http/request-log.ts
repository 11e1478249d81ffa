import type { IncomingHttpHeaders } from 'node:http';
import { Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AccessedRequest } from '../access.js';
import type { LoggedRefusal } from '../domain-error.js';
import { isUuid, newId } from '../ids.js';
import type { ServerLog } from '../pino-logger.js';
import type { ClientAddresses } from './client-address.js';

declare module 'fastify' {
  interface FastifyReply {
    /** The error code of the response; null if there was no error. */
    errorCode: string | null;
    /** What the line adds to that; null for nothing. */
    logged: LoggedRefusal | null;
  }
}

const REFUSED = 'A request was refused';
const FAILED = 'A request failed';
const logger = new Logger('Http');

/**
 * Logs each refused or failed request at `info`, and with `isVerbose` any other at `debug`. A line names the route,
 * never the URL, which holds the caller's text. Health probes are not logged.
 */
export function logRequests(
  fastify: FastifyInstance,
  log: ServerLog,
  addresses: ClientAddresses,
  isVerbose: boolean,
): void {
  fastify.decorateReply('errorCode', null);
  fastify.decorateReply('logged', null);
  fastify.addHook('onRequest', (request, _reply, done) => log.ofRequest(request.id, done));
  fastify.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, errorCode: code } = reply;
    const isRefused = status >= 400 || code !== null;
    if ((isRefused || isVerbose) && !isHealth(request)) {
      const ms = Math.round(reply.elapsedTime);
      const line = { ...fieldsOf(request), address: addresses.of(request.raw), status, code, ms };
      const { message, ...extra } = reply.logged ?? {};
      if (message !== undefined) logger.warn({ ...line, ...extra }, message);
      else if (isRefused) logger.log(line, status >= 500 ? FAILED : REFUSED);
      else logger.debug(line, 'A request was answered');
    }
    done();
  });
}

/** Logs the refusal of a connection or message that never became a request. */
export function logRefusal(refusal: {
  requestId: string;
  address: string;
  status: number;
  code: string;
}): void {
  const noRequest = { method: null, route: null, userId: null, workspaceId: null };
  logger.log({ ...noRequest, ...refusal, ms: null }, REFUSED);
}

/** The caller's X-Request-Id if it is safe to log, else a new id. */
export function requestId({ headers }: { headers: IncomingHttpHeaders }): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : newId();
}

function isHealth({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url?.startsWith('/health/') === true;
}

function fieldsOf(request: FastifyRequest): object {
  const { access } = request as AccessedRequest;
  const { workspaceId } = (request.params ?? {}) as { workspaceId?: string };
  return {
    requestId: request.id,
    method: request.method,
    // Null for an unknown route.
    route: request.routeOptions.url ?? null,
    userId: access?.user?.id ?? null,
    workspaceId: isUuid(workspaceId) ? workspaceId.toLowerCase() : null,
  };
}
