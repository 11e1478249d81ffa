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
    /** The Content-Type header, kept from Fastify. */
    contentType: string | undefined;
  }
  interface FastifyInstance {
    /** The open connections, for whoever keeps one. */
    connections: Connections;
    /** What was answered and not read, for whoever is about to answer. */
    unreadAnswers: UnreadAnswers;
    /** Who has sent a request, for whoever lets them take turns. */
    senders: Senders;
  }
}

/** Ids, names and paths in a URL are bounded by their routes, with a message; this only has to be above all of them. */
const MAX_PARAM_LENGTH = 16_384;
/** How long a request may take to arrive: its headers, and all of it. */
const HEADERS_MS = 15_000;
const REQUEST_MS = 300_000;
const KEEP_ALIVE_MS = 72_000;
/** How often Node looks for those that took longer. */
const CHECK_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;

/** Fastify as Patchbay wants it: bounded connections, its refusals in our form too, no body read before the guards. */
export function fastifyAdapter(config: Config): FastifyAdapter {
  const addresses = new ClientAddresses(config.trustedProxies);
  const connections = new Connections(config);
  const adapter = new FastifyAdapter({
    serverFactory: (handler: RequestListener) => boundedServer(handler, connections, addresses),
    genReqId: requestId,
    rewriteUrl: belowBasePath(config.basePath),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // Requests on open connections are answered to the end of a stop; the hook below refuses new ones in our form.
    return503OnClosing: false,
    // No hook sees these.
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
  const unreadAnswers = new UnreadAnswers(config);
  watchAnswers(fastify, unreadAnswers);
  fastify.decorate('connections', connections).decorate('unreadAnswers', unreadAnswers);
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
    // Node answers such a request without a body; `hasNoHost` refuses it in our form.
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

function watchAnswers(fastify: FastifyInstance, answers: UnreadAnswers): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    try {
      answers.send(request, reply, payload);
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

/** Bounds what comes without a token, also what asks for routes that are not there. Health is always answered. */
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
  // Without this Fastify would judge the content type before the guards have seen who asks.
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    request.contentType = request.raw.headers['content-type'];
    delete request.raw.headers['content-type'];
    done(null, payload);
  });
}

function withOwnHeaders(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.header('X-Request-Id', request.id).header('X-Content-Type-Options', 'nosniff');
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

/** What Node could not read as a request, or not in time. */
function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // Behind answers that nobody reads there is no room for another.
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
