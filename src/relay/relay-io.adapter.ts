import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { RELAY_NAMESPACE } from '@patchbay/protocol';
import type { Server, ServerOptions } from 'socket.io';
import { isForeignOrigin } from '../auth/request-token.js';
import type { Config } from '../config/config.js';
import { boundedParser } from './bounded-parser.js';
import { RelayLines } from './relay-lines.js';
import type { EngineConnection } from './stranger-gate.js';

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
      perMessageDeflate: false,
      connectTimeout: 10_000,
      allowRequest: (request: IncomingMessage, decide: (error: string | null, allowed: boolean) => void) => {
        if (isForeignOrigin(request.headers, origins))
          return decide('Origin not allowed; see PATCHBAY_ORIGINS', false);
        const hasRoom = this.lines.mayOpen(request);
        decide(hasRoom ? null : 'Too many handshakes of this address are under way; try again', hasRoom);
      },
    } as ServerOptions);
    server.engine.on('connection', (connection: EngineConnection) => this.lines.opened(connection));
    // A second transport for a connection that is there would come in past everything that counts.
    server.engine.use((request: IncomingMessage, _response: unknown, next: (error?: Error) => void) =>
      next(/[?&]sid=/.test(request.url ?? '') ? new Error('One transport a connection') : undefined),
    );
    // The default namespace asks for no token: nobody has business there.
    server.use((_socket, next) => next(new Error(`Connect to ${RELAY_NAMESPACE}`)));
    return server;
  }
}
