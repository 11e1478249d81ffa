import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { RELAY_NAMESPACE } from '@patchbay/protocol';
import type { Server, ServerOptions } from 'socket.io';
import { isForeignOrigin } from '../auth/request-token.js';
import { DomainError } from '../common/domain-error.js';
import { endConnection, endRequest } from '../common/http/end-connection.js';
import { logRefusal } from '../common/http/request-log.js';
import type { Config } from '../config/config.js';
import { boundedParser } from './bounded-parser.js';
import { RelayLines } from './relay-lines.js';
import type { EngineConnection } from './stranger-gate.js';
import { KnownWebSocketServer } from './websockets.js';

/** Socket.IO as the relay wants it: websocket only, bounded frames, origins checked before anything is set up. */
export class RelayIoAdapter extends IoAdapter {
  private readonly lines: RelayLines;

  constructor(
    app: INestApplicationContext,
    private readonly config: Config,
  ) {
    super(app);
    this.lines = app.get(RelayLines);
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
        if (isForeignOrigin(request.headers, origins))
          return decide('Origin not allowed; see PATCHBAY_ORIGINS', false);
        const hasRoom = this.lines.mayOpen(request);
        decide(hasRoom ? null : 'Too many handshakes of this address are under way; try again', hasRoom);
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
    engine.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
      if (request.headers.upgrade !== undefined) return next();
      endRequest(response, this.lines.addressOf(request), websocketOnly(path));
    });
    engine.on('connection_error', ({ req, code }: { req: IncomingMessage; code: number }) => {
      const reason = code === ENGINE_FORBIDDEN ? 'FORBIDDEN' : 'VALIDATION_ERROR';
      logRefusal({ address: this.lines.addressOf(req), status: 400, code: reason });
    });
    (this.httpServer as HttpServer).on('upgrade', ({ url }: IncomingMessage, socket: Socket) => {
      if (url?.startsWith(path) !== true) endConnection(socket, websocketOnly(path));
    });
  }
}

/** How Socket.IO's engine calls a refusal of `allowRequest`. */
const ENGINE_FORBIDDEN = 4;

function websocketOnly(path: string): DomainError {
  return new DomainError(
    'VALIDATION_ERROR',
    `The one upgrade is websocket, at ${path}, and it takes nothing else`,
  );
}
