import { Injectable } from '@nestjs/common';
import type { Ack, ErrorCode } from '@patchbay/protocol';
import { PinoLogger } from '../common/pino-logger.js';
import { Bus } from '../events/bus.js';
import { ConnectedClients } from '../clients/connected-clients.js';
import { Presence } from '../clients/presence.js';
import type { VerifiedToken } from '../auth/access-tokens.js';
import { Clock } from '../common/clock.js';
import { Lifecycle } from '../common/lifecycle.js';
import { Config } from '../config/config.js';
import { Dispatcher } from '../turns/engine/dispatcher.js';
import { bytesOf, faultOf } from './bounded-parser.js';
import { ConnectionBounds } from './connection-bounds.js';
import { ignore, type RelaySocket } from './relay-socket.js';
import { TokenWatch } from './token-watch.js';

const EVENTS = new Set([
  ...['client:resume', 'tool:status', 'tool:result', 'files:put', 'session:active_files', 'auth:refresh'],
  ...['folder:status', 'tools:changed'],
]);
/** The events that a client may send before its resume was answered [RELAY-3]. */
const BEFORE_RESUME = new Set(['client:resume', 'auth:refresh', 'tools:changed']);

interface Connection {
  resumeTimer: NodeJS.Timeout;
  token: TokenWatch;
}

/** The open connections: each must resume in time, keep its token fresh and not flood. A drain notifies all. */
@Injectable()
export class RelayConnections {
  private readonly open_ = new Map<RelaySocket, Connection>();

  constructor(
    private readonly clients: ConnectedClients,
    private readonly presence: Presence,
    private readonly dispatcher: Dispatcher,
    private readonly lines: ConnectionBounds,
    private readonly bus: Bus,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly logger: PinoLogger,
    lifecycle: Lifecycle,
  ) {
    logger.setContext(RelayConnections.name);
    lifecycle.stopping.addEventListener('abort', () => this.drain());
  }

  open(socket: RelaySocket): void {
    const { client, tokenExpiresAt } = socket.data;
    const token = new TokenWatch(socket, this.clock);
    this.open_.set(socket, { token, resumeTimer: this.resumeTimer(socket) });
    token.start(tokenExpiresAt);
    this.watchEvents(socket);
    this.clients.add(client);
    const { epoch, connectionId } = client;
    this.bus.publish({ type: 'client_connected', ...client.key, epoch, connectionId });
    this.logger.info({ ...client.key }, 'Client connected');
  }

  closed(socket: RelaySocket): void {
    const connection = this.open_.get(socket);
    if (!connection) return;
    this.open_.delete(socket);
    connection.token.stop();
    clearTimeout(connection.resumeTimer);
    this.clients.remove(socket.data.client);
    this.presence.closed(socket.data.client);
    this.logger.info({ ...socket.data.client.key }, 'Client left');
  }

  /** Stops the resume timer: the server's processing is not the client's time. */
  processing(socket: RelaySocket): void {
    clearTimeout(this.open_.get(socket)?.resumeTimer);
  }

  /** Restarts the resume timer after a refused journal, or after other work before the resume. */
  awaitResume(socket: RelaySocket): void {
    const connection = this.open_.get(socket);
    if (!connection || socket.data.client.ready) return;
    clearTimeout(connection.resumeTimer);
    connection.resumeTimer = this.resumeTimer(socket);
  }

  /** Lets the client receive calls after its journal was processed. `resumed`: the calls that it holds. */
  resumed(socket: RelaySocket, resumed: readonly string[]): void {
    const connection = this.open_.get(socket);
    if (!connection) return;
    clearTimeout(connection.resumeTimer);
    this.clients.markReady(socket.data.client, resumed);
  }

  /** Records a new token of the same user. */
  renewed(socket: RelaySocket, { loginId, expiresAt }: VerifiedToken): void {
    socket.data.loginId = loginId;
    this.open_.get(socket)?.token.start(expiresAt);
  }

  /** The distinct logins of the open connections. */
  logins(): string[] {
    return [...new Set([...this.open_.keys()].map(({ data }) => data.loginId))];
  }

  /** Ends every connection of these logins. */
  endLogins(loginIds: ReadonlySet<string>): void {
    for (const socket of this.open_.keys()) if (loginIds.has(socket.data.loginId)) socket.disconnect(true);
  }

  private resumeTimer(socket: RelaySocket): NodeJS.Timeout {
    return setTimeout(() => socket.disconnect(true), this.config.acknowledgeMs).unref();
  }

  private watchEvents(socket: RelaySocket): void {
    const { load, flood } = this.lines.admitted(socket.conn, socket.data.userId);
    socket.use((packet, next) => {
      const [event, ...args] = packet;
      const last = args.at(-1) as unknown;
      const answer = typeof last === 'function' ? (last as (ack: Ack) => void) : ignore;
      const refuse = (code: ErrorCode, message: string): void =>
        answer({ ok: false, error: { code, message } });
      if (load.limited && !flood.passEvent(event)) {
        refuse('RATE_LIMITED', 'Too many events; reconnect and slow down.');
        return void setImmediate(() => socket.disconnect(true));
      }
      const fault = faultOf(packet);
      if (fault !== null) return refuse('TOO_LARGE', fault);
      if (!EVENTS.has(event)) return refuse('NOT_FOUND', 'There is no such event.');
      if (!socket.data.client.ready && !BEFORE_RESUME.has(event)) {
        return refuse('CONFLICT', 'Send client:resume first.');
      }
      this.clients.touch(socket.data.client);
      untilAnswered(packet, (bytes) => load.handle(bytes));
      next();
    });
  }

  /** Asks clients to go elsewhere; they may report their calls here or there. */
  private drain(): void {
    this.dispatcher.drain();
    for (const socket of this.open_.keys()) {
      socket.emit('server:draining', { reason: 'The server is stopping; reconnect in a moment.' }, ignore);
    }
  }
}

/** Counts an event as in flight until it is answered, even if its client wants no acknowledgement. */
function untilAnswered(packet: unknown[], count: (bytes: number) => void): void {
  const bytes = bytesOf(packet);
  const last = packet.at(-1);
  const answer = typeof last === 'function' ? (packet.pop() as (ack: Ack) => void) : ignore;
  let open = true;
  count(bytes);
  packet.push((ack: Ack) => {
    if (open) count(-bytes);
    open = false;
    answer(ack);
  });
}
