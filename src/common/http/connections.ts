import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config/config.js';
import { DomainError } from '../domain-error.js';
import { ClientAddresses, type Network, networksOf } from './client-address.js';
import { endConnection, endRequest } from './end-connection.js';
import { onResponseClosed } from './response-closed.js';

/** Maximum number of unanswered requests per connection; no regular client pipelines more. */
const MAX_PIPELINED = 8;
const RETRY_AFTER_SECONDS = 5;

interface Connection {
  /** The networks that it counts for; none for a trusted proxy, whose clients are counted per request. */
  networks: readonly Network[];
  /** Number of unanswered requests. */
  pending: number;
  /** Exempt from eviction, such as an accepted relay connection. */
  pinned: boolean;
}

/** What a network has open: its connections, or its requests through a proxy. */
interface NetworkUse {
  open: number;
  /** Its idle connections, the longest idle first. */
  idle: Set<Socket>;
}

/**
 * Bounds open connections per network and in total. A new connection evicts the one that has been idle the longest,
 * so that idle connections keep nobody out. If none is idle, the new one is refused.
 */
export class Connections {
  private readonly addresses: ClientAddresses;
  private readonly open = new Map<Socket, Connection>();
  private readonly uses = new Map<string, NetworkUse>();
  /** The longest idle first. */
  private readonly idle = new Set<Socket>();

  constructor(private readonly config: Config) {
    this.addresses = new ClientAddresses(config.trustedProxies);
  }

  /** Tracks every connection of the server from its start. */
  watch(server: Server): void {
    server.prependListener('connection', (socket: Socket) => this.accept(socket));
  }

  /** Whether a request may proceed; otherwise it has been refused already. */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    const connection = this.open.get(socket);
    // An untracked socket: an injected request of a test, or a connection that was refused.
    if (connection === undefined) return !socket.writableEnded;
    connection.pending += 1;
    this.leaveIdle(socket, connection);
    onResponseClosed(response, () => this.requestEnded(socket, connection));
    if (connection.pending > MAX_PIPELINED) {
      socket.destroy();
      return false;
    }
    return connection.networks.length > 0 || this.admitThroughProxy(request, response);
  }

  /** Exempts the connection from eviction from now on. */
  pin(socket: Socket): void {
    const connection = this.open.get(socket);
    if (connection === undefined) return;
    connection.pinned = true;
    this.leaveIdle(socket, connection);
  }

  private accept(socket: Socket): void {
    const networks = this.addresses.isProxy(socket) ? [] : networksOf(this.addresses.ofSocket(socket));
    const refusal = this.evict(networks);
    if (refusal !== null) return endConnection(socket, refusal);
    const connection = { networks, pending: 0, pinned: false };
    this.open.set(socket, connection);
    this.count(networks);
    this.becomeIdle(socket, connection);
    socket.once('close', () => {
      this.leaveIdle(socket, connection);
      this.open.delete(socket);
      this.uncount(networks);
    });
  }

  /** Makes room for a connection; returns the refusal if there is none. */
  private evict(networks: readonly Network[]): DomainError | null {
    const { maxConnections } = this.config;
    const fullNetwork = this.findFull(networks);
    if (fullNetwork !== null) return this.closeLongestIdle(fullNetwork.idle) ? null : tooManyOfAddress();
    if (this.open.size < maxConnections || this.closeLongestIdle(this.idle)) return null;
    return new DomainError('UNAVAILABLE', 'The server has too many open connections; try again in a moment');
  }

  private findFull(networks: readonly Network[]): NetworkUse | null {
    for (const { key, times } of networks) {
      const use = this.uses.get(key);
      if (use !== undefined && use.open >= this.config.maxAddressConnections * times) return use;
    }
    return null;
  }

  /** Closes the connection that has been idle the longest; false if there is none. */
  private closeLongestIdle([socket]: Set<Socket>): boolean {
    const connection = socket && this.open.get(socket);
    if (connection === undefined) return false;
    // The close event comes later; the slot is free now.
    this.leaveIdle(socket!, connection);
    socket!.destroy();
    return true;
  }

  private requestEnded(socket: Socket, connection: Connection): void {
    connection.pending -= 1;
    const isIdle = connection.pending === 0 && !connection.pinned;
    if (isIdle && this.open.has(socket) && !socket.destroyed) this.becomeIdle(socket, connection);
  }

  private becomeIdle(socket: Socket, { networks }: Connection): void {
    this.idle.add(socket);
    for (const { key } of networks) this.uses.get(key)?.idle.add(socket);
  }

  private leaveIdle(socket: Socket, { networks }: Connection): void {
    this.idle.delete(socket);
    for (const { key } of networks) this.uses.get(key)?.idle.delete(socket);
  }

  private admitThroughProxy(request: IncomingMessage, response: ServerResponse): boolean {
    const networks = networksOf(this.addresses.of(request));
    if (this.findFull(networks) !== null) {
      endRequest(response, this.addresses.of(request), tooManyOfAddress());
      return false;
    }
    this.count(networks);
    onResponseClosed(response, () => this.uncount(networks));
    return true;
  }

  private count(networks: readonly Network[]): void {
    for (const { key } of networks) {
      const use = this.uses.get(key) ?? { open: 0, idle: new Set() };
      use.open += 1;
      this.uses.set(key, use);
    }
  }

  private uncount(networks: readonly Network[]): void {
    for (const { key } of networks) {
      const use = this.uses.get(key);
      if (use === undefined) continue;
      use.open -= 1;
      if (use.open === 0) this.uses.delete(key);
    }
  }
}

function tooManyOfAddress(): DomainError {
  return new DomainError('RATE_LIMITED', 'Too many connections from this address; close some, or try again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
