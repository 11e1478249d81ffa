import type { EventEmitter } from 'node:events';
import { type IncomingMessage, type Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { MessageMappingProperties } from '@nestjs/websockets';
import { type Ack, RELAY_NAMESPACE } from '@patchbay/protocol';
import type { Observable } from 'rxjs';
import type { Server, ServerOptions } from 'socket.io';
import { isForeignOrigin } from '../auth/request-token.js';
import { DomainError } from '../common/domain-error.js';
import { endConnection, endRequest } from '../common/http/end-connection.js';
import type { Config } from '../config/config.js';
import { boundedParser } from './bounded-parser.js';
import { ConnectionBounds } from './connection-bounds.js';
import { onEvent, type RelaySocket } from './relay-socket.js';
import type { EngineConnection } from './unauthenticated-gate.js';
import { KnownWebSocketServer } from './websockets.js';

/** Configures Socket.IO for the relay: websocket only, bounded frames, origins checked before any setup. */
export class RelayIoAdapter extends IoAdapter {
  private readonly lines: ConnectionBounds;
  /** Refusals of handshakes, until the engine reports them. */
  private readonly refusals = new WeakMap<IncomingMessage, DomainError>();

  constructor(
    app: INestApplicationContext,
    private readonly config: Config,
  ) {
    super(app);
    this.lines = app.get(ConnectionBounds);
  }

  override createIOServer(port: number, options?: ServerOptions): Server {
    const { basePath, maxBodyBytes, origins } = this.config;
    const server = super.createIOServer(port, {
      ...options,
      path: `${basePath}/socket.io`,
      transports: ['websocket'],
      serveClient: false,
      // The parser refuses oversized events; only a much larger frame ends the connection.
      maxHttpBufferSize: 2 * maxBodyBytes,
      parser: boundedParser(maxBodyBytes),
      // Frames are written when they are sent, so later data on the TCP socket follows them.
      perMessageDeflate: false,
      wsEngine: KnownWebSocketServer,
      connectTimeout: 10_000,
      destroyUpgrade: false,
      allowRequest: (request: IncomingMessage, decide: (error: string | null, allowed: boolean) => void) => {
        const refusal = this.refusalOf(request, origins);
        if (refusal !== null) this.refusals.set(request, refusal);
        decide(refusal && refusal.message, refusal === null);
      },
    } as ServerOptions);
    this.answerInOurForm(server);
    server.engine.on('connection', (connection: EngineConnection) => this.lines.opened(connection));
    server.engine.use((request: IncomingMessage, response: object, next: (error?: Error) => void) => {
      // The engine keeps the response until the connection ends, and with it the request.
      Object.assign(response, { req: null });
      // A second transport for an existing connection would bypass all limits.
      next(/[?&]sid=/.test(request.url ?? '') ? new Error('One transport a connection') : undefined);
    });
    // The default namespace requires no token and is unused.
    server.use((_socket, next) => next(new Error(`Connect to ${RELAY_NAMESPACE}`)));
    return server;
  }

  /**
   * Binds the gateway's events. Nest's own way subscribes to each event of each socket with RxJS: some KiB per client,
   * and an event that ends after its client has left is never answered, so its bytes would count for ever.
   */
  override bindMessageHandlers(
    socket: RelaySocket,
    handlers: MessageMappingProperties[],
    resultOf: (called: unknown) => Observable<Ack>,
  ): void {
    for (const { message, callback, isAckHandledManually } of handlers)
      onEvent(socket, message as string, (body, answer) => {
        const next = (ack: Ack): void => (isAckHandledManually ? undefined : answer(ack));
        const error = (failure: unknown): void => this.logger.error(failure);
        resultOf(callback(body, answer)).subscribe({ next, error });
      });
  }

  /** Socket.IO leaves other upgrades unanswered, and answers plain requests in its own format. */
  private answerInOurForm(server: Server): void {
    const { engine } = server;
    const path = `${this.config.basePath}/socket.io/`;
    const refuse = (request: IncomingMessage, error: DomainError): void =>
      endConnection(request.socket, error, this.lines.addressOf(request), request);
    engine.use((request: IncomingMessage, response: unknown, next: () => void) => {
      if (!isPlain(response)) return next();
      endRequest(response, this.lines.addressOf(request), websocketOnly(path));
    });
    // The engine writes nothing more after this event.
    engine.on('connection_error', ({ req }: { req: IncomingMessage }) =>
      refuse(req, this.refusals.get(req) ?? websocketOnly(path)),
    );
    const httpServer = this.httpServer as HttpServer;
    // The engine creates its websocket server only at this point.
    httpServer.on('listening', () => {
      const { ws } = engine as unknown as { ws: EventEmitter };
      ws.on('wsClientError', ({ message }: Error, _socket: Socket, request: IncomingMessage) =>
        refuse(request, new DomainError('VALIDATION_ERROR', `This is no websocket handshake: ${message}`)),
      );
    });
    httpServer.on('upgrade', (request: IncomingMessage) => {
      if (request.url?.startsWith(path) !== true) refuse(request, websocketOnly(path));
    });
  }

  private refusalOf(request: IncomingMessage, origins: Config['origins']): DomainError | null {
    if (isForeignOrigin(request.headers, origins))
      return new DomainError('FORBIDDEN', 'Origin not allowed; see PATCHBAY_ORIGINS');
    // The engine would accept the websocket first.
    if (!/[?&]EIO=4(?:&|$)/.test(request.url ?? ''))
      return new DomainError('VALIDATION_ERROR', 'The relay speaks Engine.IO 4 alone: send EIO=4');
    if (this.lines.mayOpen(request)) return null;
    const message = 'Too many handshakes of this address are under way; try again';
    return new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

const RETRY_AFTER_SECONDS = 5;

/** Upgrades have a response object of the engine. */
function isPlain(response: unknown): response is ServerResponse {
  return response instanceof ServerResponse;
}

function websocketOnly(path: string): DomainError {
  return new DomainError(
    'VALIDATION_ERROR',
    `The one upgrade is websocket, at ${path}, and it takes nothing else`,
  );
}
