import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { waitFor } from './wait-for.js';

type Direction = 'toServer' | 'toClient';

/** A wire between a client and the server that a test can hold in either direction, to stop time at one message. */
export class RelayProxy {
  /** What has passed to the client; the server's frames are plain text. */
  passedToClient = '';
  private readonly held = { toServer: false, toClient: false };
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
    /** Port of the server that the next connection goes to. */
    public port: number,
  ) {}

  static async to(port: number): Promise<RelayProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address() as { port: number };
    const proxy = new RelayProxy(server, `http://127.0.0.1:${address.port}`, port);
    server.on('connection', (socket) => proxy.join(socket, connect(proxy.port, '127.0.0.1')));
    return proxy;
  }

  /** From now on nothing passes in this direction; what is held is lost with its connection. */
  hold(direction: Direction): void {
    this.held[direction] = true;
  }

  /** Ends the connections and lets new ones through. */
  reset(): void {
    this.held.toServer = this.held.toClient = false;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Ends the connections and lets none through until it is mended. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  /** Resolves once a text has passed to the client. */
  passed(text: string): Promise<void> {
    return waitFor(() => this.passedToClient.includes(text), `${text} to pass to the client`);
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
    }
    if (this.isCut) client.destroy();
    client.on('data', (bytes) => {
      if (!this.held.toServer) server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (this.held.toClient) return;
      client.write(bytes);
      this.passedToClient += bytes.toString('latin1');
    });
  }
}
