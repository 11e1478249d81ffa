import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { strictJson } from '@patchbay/protocol';
import type { Config } from '../config/config.js';
import { DomainError } from '../common/domain-error.js';
import type { Lifecycle } from '../common/lifecycle.js';
import type { RateLimits } from '../limits/rate-limits.js';
import { belowBasePath } from '../common/http/base-path.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { Connections } from '../common/http/connections.js';
import { endConnection, endRequest } from '../common/http/end-connection.js';
import { answerOf } from '../common/http/error-answer.js';
import { sendError } from '../common/http/error.filter.js';
import { logRefusal, requestId } from '../common/http/request-log.js';
import { UnreadAnswers } from '../limits/unread-answers.js';
import { gateRequests, Senders } from '../limits/request-gate.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The original Content-Type header, hidden from Fastify. */
    contentType: string | undefined;
  }
  interface FastifyInstance {
    /** The open connections; the relay exempts its own from eviction. */
    connections: Connections;
    /** The bytes of unread responses, for routes that are about to send large ones. */
    unreadAnswers: UnreadAnswers;
    /** The senders of requests, for fair queueing of handshakes. */
    senders: Senders;
  }
}

/** Only an upper bound: routes bound their own parameters with a specific message. */
const MAX_PARAM_LENGTH = 16_384;
/** Time limits for the headers of a request, and for all of it, ms. */
const HEADERS_MS = 15_000;
const REQUEST_MS = 300_000;
const KEEP_ALIVE_MS = 72_000;
/** How often Node checks these limits, ms. */
const CHECK_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;

/** Creates Fastify with bounded connections, refusals in the API's form, and no body parsing before the access check. */
export function fastifyAdapter(config: Config): FastifyAdapter {
  const addresses = new ClientAddresses(config.trustedProxies);
  const connections = new Connections(config);
  const adapter = new FastifyAdapter({
    serverFactory: (handler: RequestListener) => boundedServer(handler, connections, addresses),
    genReqId: requestId,
    rewriteUrl: belowBasePath(config.basePath),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // Requests on open connections are served until the stop ends; the hook below refuses new ones in the API's form.
    return503OnClosing: false,
    // These errors bypass all hooks.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const answer = answerOf(isBadUrl(error) ? badUrl() : error);
      const { status, body } = answer;
      const address = addresses.of(request.raw);
      logRefusal({ requestId: request.id, address, status, code: body.code });
      sendError(withOwnHeaders(request, reply), answer);
    },
    clientErrorHandler: refuseUnreadable,
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  fastify.setReplySerializer(strictJson);
  const senders = new Senders(addresses);
  gateRequests(fastify, senders);
  leaveBodiesUnread(fastify);
  fastify.decorate('connections', connections).decorate('unreadAnswers', new UnreadAnswers(config));
  fastify.decorate('senders', senders);
  return adapter;
}

function boundedServer(
  handler: RequestListener,
  connections: Connections,
  addresses: ClientAddresses,
): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: CHECK_MS,
    // Node would refuse without a body; `hasNoHost` refuses in the API's form.
    requireHostHeader: false,
  };
  const refuse = (request: IncomingMessage, response: ServerResponse, error: DomainError, status?: number) =>
    endRequest(response, addresses.of(request), error, status);
  const server = createServer(options, (request, response) => {
    if (!connections.admit(request, response)) return;
    if (hasNoHost(request)) refuse(request, response, noHost());
    else handler(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (connections.admit(request, response)) refuse(request, response, badExpectation(), 417);
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => endConnection(socket, noTunnel()));
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  connections.watch(server);
  return server;
}

function hasNoHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined;
}

function noHost(): DomainError {
  return new DomainError('VALIDATION_ERROR', 'The request has no Host header');
}

function badExpectation(): DomainError {
  return new DomainError('VALIDATION_ERROR', 'The only Expect value that is supported is 100-continue');
}

function noTunnel(): DomainError {
  return new DomainError('NOT_FOUND', 'This server is not a proxy: CONNECT is not supported');
}

/** Counts every response until it is read. */
export function watchAnswers(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    try {
      fastify.unreadAnswers.send(request, reply, payload);
      done(null, payload);
    } catch (error) {
      done(error as Error);
    }
  });
}

function isBadUrl(error: Error): boolean {
  return 'code' in error && error.code === 'FST_ERR_BAD_URL';
}

function badUrl(): DomainError {
  return new DomainError('VALIDATION_ERROR', 'The URL is not valid percent-encoding');
}

/** Serves only health probes from the moment when the server begins to stop. */
export function refuseWhileStopping(fastify: FastifyInstance, lifecycle: Lifecycle): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!lifecycle.stopping.aborted || request.url.startsWith('/health/')) return done();
    done(new DomainError('UNAVAILABLE', 'The server is stopping; try again'));
  });
  // Kept-alive connections would delay the stop.
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (lifecycle.stopping.aborted) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

/** Rate-limits requests without a token, including those for unknown routes. Health is always served. */
export function limitTokenless(fastify: FastifyInstance, limits: RateLimits): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const showsToken = headers.authorization !== undefined || headers.cookie !== undefined;
    if (showsToken || request.url.startsWith('/health/')) return done();
    try {
      limits.tokenless(request.raw);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
}

function leaveBodiesUnread(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.decorateRequest('contentType', undefined);
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  fastify.addHook('onRequest', (request, reply, done) => {
    withOwnHeaders(request, reply);
    done(hasMalformedQuery(request.url) ? badUrl() : undefined);
  });
  // Otherwise Fastify would reject the content type before the access check has checked the caller.
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    request.contentType = request.raw.headers['content-type'];
    delete request.raw.headers['content-type'];
    done(null, payload);
  });
}

function withOwnHeaders(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.header('X-Request-Id', request.id).header('X-Content-Type-Options', 'nosniff');
}

/** Fastify rejects invalid escapes in a path, but passes those in a query on unchanged. */
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

/** Answers what Node could not parse as a request, or did not receive in time. */
function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // A response cannot follow others that are still unread.
  if (!socket.writable || socket.writableLength > 0) {
    socket.destroy();
    return;
  }
  endConnection(socket, unreadable(error.code));
}

function unreadable(code: string | undefined): DomainError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new DomainError('TOO_LARGE', `The headers exceed the limit of ${MAX_HEADER_BYTES} bytes`);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new DomainError('VALIDATION_ERROR', 'The request took too long to arrive');
    default:
      return new DomainError('VALIDATION_ERROR', 'The request is not readable as HTTP');
  }
}
