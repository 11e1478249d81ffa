import { randomBytes } from 'node:crypto';
import { RawConnection } from './raw-connection.js';
import type { TestServer } from './server.js';
import { waitFor } from './wait-for.js';

const TEXT = 1;
const FIN = 0x80;
const MASKED = 0x80;

/** A websocket on which a test sends frames as it likes, below Socket.IO and Engine.IO. */
export class RawWebSocket {
  private constructor(readonly connection: RawConnection) {}

  /** Opened as far as a stranger gets; `path` for another than the relay's. */
  static async open(
    server: TestServer,
    localAddress?: string,
    path = '/socket.io/?EIO=4&transport=websocket',
  ): Promise<RawWebSocket> {
    const socket = new RawWebSocket(await RawConnection.open(server, localAddress));
    socket.connection.get(path, {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    });
    await socket.connection.status();
    return socket;
  }

  /** One that has opened, and has joined the relay as the client of this handshake. */
  static async member(server: TestServer, auth: object, localAddress?: string): Promise<RawWebSocket> {
    const socket = await RawWebSocket.open(server, localAddress);
    await socket.until('"pingInterval"');
    socket.text(`40/relay,${JSON.stringify(auth)}`);
    await socket.until('40/relay,{"sid"');
    return socket;
  }

  text(text: string): this {
    return this.frame(TEXT, Buffer.from(text));
  }

  /** A frame of any opcode; `size` announces more than there is. */
  frame(opcode: number, payload: Buffer, { fin = true, size = payload.length } = {}): this {
    const head = Buffer.alloc(14);
    head[0] = (fin ? FIN : 0) | opcode;
    head[1] = MASKED | 127;
    head.writeBigUInt64BE(BigInt(size), 2);
    // A mask of zeros leaves the payload as it is.
    this.connection.send(Buffer.concat([short(head, size), payload]));
    return this;
  }

  /** Resolves once the text has come. */
  until(text: string): Promise<void> {
    return waitFor(() => this.connection.received.includes(text), text);
  }

  get closed(): boolean {
    return this.connection.closed;
  }

  end(): void {
    this.connection.end();
  }
}

/** Control frames must have the short form. */
function short(head: Buffer, size: number): Buffer {
  return size > 125 ? head : Buffer.from([head[0]!, MASKED | size, 0, 0, 0, 0]);
}
