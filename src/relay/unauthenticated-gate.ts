import { type RelayError, RELAY_NAMESPACE } from '@patchbay/protocol';
import type { Socket } from 'node:net';
import type { Socket as RelaySocket } from 'socket.io';

/** The connection below a Socket.IO socket. */
export type EngineConnection = RelaySocket['conn'];

/** Bytes before the handshake is accepted: enough for a token, tools, folders and a retry with another token. */
export const MAX_UNAUTHENTICATED_BYTES = 16 * 1024;
const MAX_UNAUTHENTICATED_PACKETS = 32;
/** How long sending the refusal may take. */
const END_MS = 1_000;

const TOO_LARGE: RelayError = {
  code: 'TOO_LARGE',
  message: `A client may send ${MAX_UNAUTHENTICATED_BYTES} bytes before its handshake is accepted; announce fewer tools or folders`,
};
const REFUSAL = `4${RELAY_NAMESPACE},${JSON.stringify({ message: TOO_LARGE.message, data: TOO_LARGE })}`;

/** Bytes that the peer may still send before it learns of the end. */
const MAX_LATE_BYTES = 64 * 1024;

/** Destroys an ended connection, since the peer might never close its side. */
export function destroyConnection(socket: Socket): void {
  let late = 0;
  socket.prependListener('data', (chunk: Buffer) => {
    late += chunk.length;
    if (late > MAX_LATE_BYTES) socket.destroy();
  });
  setTimeout(() => socket.destroy(), END_MS).unref();
}

/**
 * Limits the bytes of a connection before its handshake is accepted. It counts on the TCP socket, so nothing larger is
 * assembled or parsed for unauthenticated clients.
 */
export class UnauthenticatedGate {
  private bytes = 0;
  private packets = 0;

  constructor(private readonly connection: EngineConnection) {
    // Before the websocket's own listener, which assembles frames.
    connection.request.socket.prependListener('data', this.onData);
    connection.on('packet', this.onPacket);
  }

  /** Ends the check after the handshake was accepted. */
  open(): void {
    this.connection.request.socket.off('data', this.onData);
    this.connection.off('packet', this.onPacket);
  }

  private readonly onData = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    if (this.bytes > MAX_UNAUTHENTICATED_BYTES) this.refuse();
  };

  private readonly onPacket = (): void => {
    this.packets += 1;
    if (this.packets > MAX_UNAUTHENTICATED_PACKETS) this.refuse();
  };

  private refuse(): void {
    this.open();
    const { socket } = this.connection.request;
    this.connection.write(REFUSAL);
    // Further data is not read.
    socket.removeAllListeners('data').pause();
    socket.destroySoon();
    setTimeout(() => socket.destroy(), END_MS).unref();
  }
}
