import { type RelayError, RELAY_NAMESPACE } from '@patchbay/protocol';
import type { Socket } from 'socket.io';

/** The connection below a Socket.IO socket. */
export type EngineConnection = Socket['conn'];

/** What may come before the handshake is accepted: a token, names of tools and folders, and to try again with another token. */
export const MAX_UNAUTHENTICATED_BYTES = 16 * 1024;
const MAX_STRANGER_PACKETS = 32;
/** How long the refusal may take to go out. */
const END_MS = 1_000;

const TOO_LARGE: RelayError = {
  code: 'TOO_LARGE',
  message: `A client may send ${MAX_UNAUTHENTICATED_BYTES} bytes before its handshake is accepted; announce fewer tools or folders`,
};
const REFUSAL = `4${RELAY_NAMESPACE},${JSON.stringify({ message: TOO_LARGE.message, data: TOO_LARGE })}`;

/** What the other side may still send after the end of a connection, until it has heard of it. */
const MAX_LATE_BYTES = 64 * 1024;

/** Has a connection that has ended go: the other side might never answer that it has heard. */
export function letGo({ request: { socket } }: EngineConnection): void {
  let late = 0;
  socket.prependListener('data', (chunk: Buffer) => {
    late += chunk.length;
    if (late > MAX_LATE_BYTES) socket.destroy();
  });
  setTimeout(() => socket.destroy(), END_MS).unref();
}

/**
 * Bounds what a connection may send before its handshake is accepted, counted on the socket itself: nothing larger is
 * put together, let alone parsed, for somebody who has shown no token.
 */
export class UnauthenticatedGate {
  private bytes = 0;
  private packets = 0;

  constructor(private readonly connection: EngineConnection) {
    // Before the websocket's own listener, which would already put frames together.
    connection.request.socket.prependListener('data', this.onData);
    connection.on('packet', this.onPacket);
  }

  /** The handshake was accepted. */
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
    if (this.packets > MAX_STRANGER_PACKETS) this.refuse();
  };

  private refuse(): void {
    this.open();
    const { socket } = this.connection.request;
    this.connection.write(REFUSAL);
    // Nobody reads what else comes.
    socket.removeAllListeners('data').pause();
    socket.destroySoon();
    setTimeout(() => socket.destroy(), END_MS).unref();
  }
}
