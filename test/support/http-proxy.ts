import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A request that the server has answered. */
export interface Passed {
  /** `POST /blobs`: method and path behind the workspace. */
  route: string;
  body: Buffer;
}

/** A wire to a server that a test can watch and cut. */
export class HttpProxy {
  readonly passed: Passed[] = [];
  /** Called when the server has answered a request; the client gets the answer once this is done. */
  onAnswered: (passed: Passed) => void | Promise<void> = () => undefined;
  /** Paths that were asked for outside of the prefix; they are answered with 404. */
  readonly strays: string[] = [];
  /** So many of the next requests are cut off, before the server sees them. */
  cut = 0;
  /** Requests that the server has not answered yet, of whoever may have gone since. */
  readonly underWay = new Set<Passed>();

  private constructor(private readonly server: Server) {}

  /** `prefix`: the path below which it has the server, which knows nothing of it. */
  static async to(target: string, prefix = ''): Promise<HttpProxy> {
    const server = createServer();
    const proxy = new HttpProxy(server);
    server.on('request', (incoming, answer) => {
      if (proxy.cut > 0) {
        proxy.cut -= 1;
        incoming.socket.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const { method = '', headers } = incoming;
        const url = proxy.below(prefix, incoming.url ?? '');
        if (url === null) return void answer.writeHead(404).end();
        const body = Buffer.concat(chunks);
        const route = `${method} ${url.replace(/^\/api\/v1\/workspaces\/[^/]+/, '').split('?')[0]}`;
        const passed = { route, body };
        proxy.underWay.add(passed);
        const outgoing = request(`${target}${url}`, { method, headers }, (response) => {
          proxy.underWay.delete(passed);
          proxy.passed.push(passed);
          void Promise.resolve(proxy.onAnswered(passed)).then(() => {
            answer.writeHead(response.statusCode!, response.headers);
            response.pipe(answer);
          });
        });
        outgoing.on('error', () => {
          proxy.underWay.delete(passed);
          incoming.socket.destroy();
        });
        outgoing.end(body);
      });
    });
    server.on('upgrade', (incoming, socket, head) => {
      const url = proxy.below(prefix, incoming.url ?? '');
      if (url === null) socket.destroy();
      else connectThrough(target, url, incoming, socket as Socket, head);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private below(prefix: string, url: string): string | null {
    if (url.startsWith(`${prefix}/`)) return url.slice(prefix.length);
    this.strays.push(url);
    return null;
  }

  /** Those of a route that went through. */
  of(route: string): Passed[] {
    return this.passed.filter((passed) => passed.route === route);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** A WebSocket is let through, unwatched. */
function connectThrough(
  target: string,
  url: string,
  { rawHeaders }: IncomingMessage,
  socket: Socket,
  head: Buffer,
) {
  const { hostname, port } = new URL(target);
  const through = connect(Number(port), hostname);
  const headers = rawHeaders.map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('');
  through.write(`GET ${url} HTTP/1.1\r\n${headers}\r\n`);
  through.write(head);
  through.pipe(socket).pipe(through);
  for (const [end, other] of [
    [through, socket],
    [socket, through],
  ] as const) {
    end.on('error', () => other.destroy()).on('close', () => other.destroy());
  }
}
