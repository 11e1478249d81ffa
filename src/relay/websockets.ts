import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

const websockets = new WeakMap<Duplex, WebSocket>();

/** The websocket on a TCP socket. Engine.IO shows none, and its control frames and reading are bounded, too. */
export function websocketOn(socket: Duplex): Pick<WebSocket, 'on' | 'pause' | 'resume'> {
  return websockets.get(socket)!;
}

/** For the option `wsEngine` of Socket.IO. */
export class KnownWebSocketServer extends WebSocketServer {
  override handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    done: (websocket: WebSocket, request: IncomingMessage) => void,
  ): void {
    super.handleUpgrade(request, socket, head, (websocket, upgraded) => {
      websockets.set(socket, websocket);
      done(websocket, upgraded);
    });
  }
}
