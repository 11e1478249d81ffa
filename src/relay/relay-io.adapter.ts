import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { RELAY_NAMESPACE } from '@patchbay/protocol';
import type { Server, ServerOptions } from 'socket.io';
import { isForeignOrigin } from '../auth/request-token.js';
import type { Config } from '../config/config.js';
import { boundedParser } from './bounded-parser.js';

/** Socket.IO as the relay wants it: websocket only, bounded frames, origins checked before anything is set up. */
export class RelayIoAdapter extends IoAdapter {
  constructor(
    app: INestApplicationContext,
    private readonly config: Config,
  ) {
    super(app);
  }

  override createIOServer(port: number, options?: ServerOptions): Server {
    const { maxBodyBytes, origins } = this.config;
    const server = super.createIOServer(port, {
      ...options,
      transports: ['websocket'],
      serveClient: false,
      // What is over the limit is refused by the parser; only far beyond it the connection ends.
      maxHttpBufferSize: 2 * maxBodyBytes,
      parser: boundedParser(maxBodyBytes),
      perMessageDeflate: false,
      connectTimeout: 10_000,
      allowRequest: (request: IncomingMessage, decide: (error: string | null, allowed: boolean) => void) => {
        const allowed = !isForeignOrigin(request.headers, origins);
        decide(allowed ? null : 'Origin not allowed; see PATCHBAY_ORIGINS', allowed);
      },
    } as ServerOptions);
    // The default namespace asks for no token: nobody has business there.
    server.use((_socket, next) => next(new Error(`Connect to ${RELAY_NAMESPACE}`)));
    return server;
  }
}
