import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server, ServerOptions } from 'socket.io';
import type { Config } from '../config.js';

/** Socket.IO as the relay wants it: websocket only, bounded frames, origins checked before anything is set up. */
export class RelayIoAdapter extends IoAdapter {
  constructor(
    app: INestApplicationContext,
    private readonly config: Config,
  ) {
    super(app);
  }

  override createIOServer(port: number, options?: ServerOptions): Server {
    return super.createIOServer(port, {
      ...options,
      transports: ['websocket'],
      serveClient: false,
      maxHttpBufferSize: this.config.maxBodyBytes,
      perMessageDeflate: false,
      connectTimeout: 10_000,
      allowRequest: (request: IncomingMessage, decide: (error: string | null, allowed: boolean) => void) => {
        const allowed = this.isAllowed(request);
        decide(allowed ? null : 'Origin not allowed; see PATCHBAY_ORIGINS', allowed);
      },
    } as ServerOptions) as Server;
  }

  /** No Origin (not a browser), our own host, or one that the operator named. */
  private isAllowed({ headers: { origin, host } }: IncomingMessage): boolean {
    if (origin === undefined) return true;
    if (this.config.origins.includes(origin)) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }
}
