import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError } from '../domain-error.js';
import { newId } from '../ids.js';
import type { Lifecycle } from '../lifecycle.js';
import { answerOf } from './error-answer.js';
import { sendError } from './error.filter.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The Content-Type header, kept from Fastify. */
    contentType: string | undefined;
  }
}

/** Ids, names and paths in a URL are bounded by their routes, with a message; this only has to be above all of them. */
const MAX_PARAM_LENGTH = 16_384;
const REQUEST_TIMEOUT_MS = 300_000;

/** Fastify as Patchbay wants it: its own refusals in our form too, and no body read before the guards. */
export function fastifyAdapter(): FastifyAdapter {
  const adapter = new FastifyAdapter({
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: requestId,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // Requests on open connections are answered to the end of a stop; the hook below refuses new ones in our form.
    return503OnClosing: false,
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) =>
      sendError(reply, answerOf(isBadUrl(error) ? badUrl() : error)),
    clientErrorHandler: refuseUnreadable,
  });
  leaveBodiesUnread(adapter.getInstance());
  return adapter;
}

function isBadUrl(error: Error): boolean {
  return 'code' in error && error.code === 'FST_ERR_BAD_URL';
}

function badUrl(): DomainError {
  return new DomainError('VALIDATION_ERROR', 'The URL is not valid percent-encoding');
}

/** From the moment when the server begins to stop, only its health is still answered. */
export function refuseWhileStopping(fastify: FastifyInstance, lifecycle: Lifecycle): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!lifecycle.stopping.aborted || request.url.startsWith('/health/')) return done();
    done(new DomainError('UNAVAILABLE', 'The server is stopping; try again'));
  });
  // A connection that stays open behind its last answer would hold up the stop.
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (lifecycle.stopping.aborted) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

function leaveBodiesUnread(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.decorateRequest('contentType', undefined);
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id).header('X-Content-Type-Options', 'nosniff');
    done(hasMalformedQuery(request.url) ? badUrl() : undefined);
  });
  // Without this Fastify would judge the content type before the guards have seen who asks.
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    request.contentType = request.raw.headers['content-type'];
    delete request.raw.headers['content-type'];
    done(null, payload);
  });
}

/** The caller's own id where it is harmless to log, so that its log and ours can be joined. */
function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : newId();
}

/** Fastify refuses bad escapes in a path, and passes those in a query on as they are. */
function hasMalformedQuery(url: string): boolean {
  const query = url.indexOf('?');
  if (query === -1 || !url.includes('%', query)) return false;
  try {
    decodeURIComponent(url.slice(query + 1));
    return false;
  } catch {
    return true;
  }
}

/** What Node could not read as a request. */
function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = answerOf(
    new DomainError('VALIDATION_ERROR', 'The request is not readable as HTTP'),
  );
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
