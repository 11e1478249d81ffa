import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestServer } from './server.js';
import { waitFor } from './wait-for.js';

/** A connection on which a test says what it likes, byte by byte. */
export class RawConnection {
  /** All that came, as Latin-1. */
  received = '';
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => (this.received += text));
    socket.on('close', () => (this.closed = true)).on('error', () => {});
  }

  static async open(server: TestServer, localAddress = '127.0.0.1'): Promise<RawConnection> {
    const port = Number(new URL(server.url).port);
    const connection = new RawConnection(connect({ port, host: '127.0.0.1', localAddress }));
    await once(connection.socket, 'connect');
    return connection;
  }

  /** So many at once, from one address. */
  static openMany(server: TestServer, count: number, localAddress?: string): Promise<RawConnection[]> {
    return Promise.all(Array.from({ length: count }, () => RawConnection.open(server, localAddress)));
  }

  send(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  get(path: string, headers: Record<string, string> = {}): this {
    const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    return this.send(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  }

  /** Resolves with the status of the n-th answer, from 1. */
  async status(count = 1): Promise<number> {
    const statuses = (): RegExpMatchArray[] => [...this.received.matchAll(/HTTP\/1\.1 (\d{3})/g)];
    await waitFor(() => statuses().length >= count, `answer ${count}`);
    return Number(statuses()[count - 1]![1]);
  }

  untilClosed(timeoutMs?: number): Promise<void> {
    return waitFor(() => this.closed, 'the end of the connection', timeoutMs);
  }

  end(): void {
    this.socket.destroy();
  }
}
