import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

const websockets = new WeakMap<Duplex, WebSocket>();

/** The websocket of a TCP socket. Engine.IO does not expose it, and its control frames and reads need limits. */
export function websocketOn(socket: Duplex): Pick<WebSocket, 'on' | 'pause' | 'resume'> {
  return websockets.get(socket)!;
}

/** A websocket server for Socket.IO's option `wsEngine`. */
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
