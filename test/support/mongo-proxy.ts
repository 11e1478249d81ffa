import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What a command meets on its way. `cut`: the database never gets it, and the connection is cut. `lose`: the database does it, and the connection is cut instead of the answer. `double`:
 * the database gets it once more when it has answered, and the second answer is dropped. `delay`: the answer comes late.
 */
export type Treatment = 'cut' | 'lose' | 'double' | 'delay' | null;

/** Longer than a projector waits for more to be written. */
const DELAY_MS = 40;
const HEADER_BYTES = 16;
const OP_MSG = 2013;
/** What a driver says of its own accord, and how it logs in. */
const NO_COMMANDS = new Set([
  'hello',
  'isMaster',
  'ismaster',
  'ping',
  'endSessions',
  'saslStart',
  'saslContinue',
]);

interface Line {
  client: Socket;
  server: Socket;
  /** How the answer to a request of this number is treated. */
  treated: Map<number, (answer: Buffer) => void>;
}

/** A wire between a server and its MongoDB that knows its commands. */
export class MongoProxy {
  /** Asked about each command, by its name. */
  treat: (command: string) => Treatment = () => null;
  private readonly lines = new Set<Line>();
  private numbers = 2 ** 30;

  private constructor(
    private readonly server: Server,
    /** The database through the proxy. */
    readonly uri: string,
  ) {}

  /** To the one host that the URI names, and its database. */
  static async to(uri: string): Promise<MongoProxy> {
    const { hostname, port } = new URL(uri);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const through = new URL(uri);
    through.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
    // Else a driver goes where the replica set says that its members are. It looks at once whether a server is back.
    through.searchParams.set('directConnection', 'true');
    through.searchParams.set('minHeartbeatFrequencyMS', '10');
    const proxy = new MongoProxy(server, through.href);
    server.on('connection', (client) => proxy.join(client, connect(Number(port), hostname)));
    return proxy;
  }

  async close(): Promise<void> {
    this.server.close();
    for (const { client } of this.lines) client.destroy();
    await once(this.server, 'close');
  }

  private join(client: Socket, server: Socket): void {
    const line: Line = { client, server, treated: new Map() };
    this.lines.add(line);
    for (const socket of [client, server]) {
      socket
        .setNoDelay(true)
        .on('error', () => undefined)
        .on('close', () => {
          this.lines.delete(line);
          client.destroy();
          server.destroy();
        });
    }
    client.on(
      'data',
      eachMessage((message) => this.request(line, message)),
    );
    server.on(
      'data',
      eachMessage((message) => {
        const number = message.readInt32LE(8);
        const treated = line.treated.get(number);
        line.treated.delete(number);
        if (treated === undefined) client.write(message);
        else treated(message);
      }),
    );
  }

  private request(line: Line, message: Buffer): void {
    const command = commandOf(message);
    const treatment = command === null ? null : this.treat(command);
    const number = message.readInt32LE(4);
    if (treatment === 'cut') {
      line.client.destroy();
      return;
    }
    if (treatment === 'lose') line.treated.set(number, () => line.client.destroy());
    if (treatment === 'delay') {
      line.treated.set(number, (answer) => void setTimeout(() => line.client.write(answer), DELAY_MS));
    }
    if (treatment === 'double') {
      const again = Buffer.from(message);
      again.writeInt32LE((this.numbers += 1), 4);
      line.treated.set(number, (answer) => {
        line.treated.set(again.readInt32LE(4), () => line.client.write(answer));
        line.server.write(again);
      });
    }
    line.server.write(message);
  }
}

/** Takes bytes as they come, and gives whole messages. */
function eachMessage(take: (message: Buffer) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= HEADER_BYTES && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      take(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

/** The name of a command, the first key of its document. Null of whatever no method of a port has asked for. */
function commandOf(message: Buffer): string | null {
  if (message.readInt32LE(12) !== OP_MSG) return null;
  for (let at = HEADER_BYTES + 4; at < message.length; at += 1 + message.readInt32LE(at + 1)) {
    // A section of kind 0 is the document; of kind 1, a list that belongs to it.
    if (message[at] !== 0) continue;
    const name = at + 1 + 4 + 1;
    const command = message.toString('latin1', name, message.indexOf(0, name));
    return NO_COMMANDS.has(command) ? null : command;
  }
  return null;
}
