import type { EventEmitter } from 'node:events';
import { type IncomingMessage, type Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { RELAY_NAMESPACE } from '@patchbay/protocol';
import type { Server, ServerOptions } from 'socket.io';
import { isForeignOrigin } from '../auth/request-token.js';
import { DomainError } from '../common/domain-error.js';
import { endConnection, endRequest } from '../common/http/end-connection.js';
import type { Config } from '../config/config.js';
import { boundedParser } from './bounded-parser.js';
import { ConnectionBounds } from './connection-bounds.js';
import type { EngineConnection } from './unauthenticated-gate.js';
import { KnownWebSocketServer } from './websockets.js';

/** Socket.IO as the relay wants it: websocket only, bounded frames, origins checked before anything is set up. */
export class RelayIoAdapter extends IoAdapter {
  private readonly lines: ConnectionBounds;
  /** Why a handshake is refused, until the engine tells that it is. */
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
      // What is over the limit is refused by the parser; only far beyond it the connection ends.
      maxHttpBufferSize: 2 * maxBodyBytes,
      parser: boundedParser(maxBodyBytes),
      // A frame is written as it is sent, so that what follows it on the TCP socket was written after it.
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
    // A second transport for a connection that is there would come in past everything that counts.
    server.engine.use((request: IncomingMessage, _response: unknown, next: (error?: Error) => void) =>
      next(/[?&]sid=/.test(request.url ?? '') ? new Error('One transport a connection') : undefined),
    );
    // The default namespace asks for no token: nobody has business there.
    server.use((_socket, next) => next(new Error(`Connect to ${RELAY_NAMESPACE}`)));
    return server;
  }

  /** Socket.IO leaves another upgrade without an answer, and answers a plain request in a form of its own. */
  private answerInOurForm(server: Server): void {
    const { engine } = server;
    const path = `${this.config.basePath}/socket.io/`;
    const refuse = (request: IncomingMessage, error: DomainError): void =>
      endConnection(request.socket, error, this.lines.addressOf(request), request);
    engine.use((request: IncomingMessage, response: unknown, next: () => void) => {
      if (!isPlain(response)) return next();
      endRequest(response, this.lines.addressOf(request), websocketOnly(path));
    });
    // The engine writes nothing more on a connection that has ended.
    engine.on('connection_error', ({ req }: { req: IncomingMessage }) =>
      refuse(req, this.refusals.get(req) ?? websocketOnly(path)),
    );
    const httpServer = this.httpServer as HttpServer;
    // Only then the engine makes the server of websockets that stays.
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

/** An upgrade has a response of the engine's own making. */
function isPlain(response: unknown): response is ServerResponse {
  return response instanceof ServerResponse;
}

function websocketOnly(path: string): DomainError {
  return new DomainError(
    'VALIDATION_ERROR',
    `The one upgrade is websocket, at ${path}, and it takes nothing else`,
  );
}
