import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { PinoLogger } from '../common/pino-logger.js';
import { Stopwatch } from '../common/clock.js';
import { ClientAddresses, networksOf } from '../common/http/client-address.js';
import { Budget } from '../limits/budget.js';
import { Config } from '../config/config.js';
import { ConnectionLoad } from './connection-load.js';
import { type EngineConnection, destroyConnection, UnauthenticatedGate } from './unauthenticated-gate.js';
import { type LoadLimits, UserLoad } from './user-load.js';

/** A user may hold 1/4 of the total of all users. */
const USERS_PART = 4;
/** Users whose recent traffic is remembered. */
const MAX_REMEMBERED = 1_000;

/** The connections below the relay's sockets: unauthenticated until the handshake is accepted, then owned by users. */
@Injectable()
export class ConnectionBounds {
  private readonly limits: LoadLimits;
  /** Websockets before the handshake, by address and by network. */
  private readonly unauthenticated = new Budget({});
  private readonly gates = new WeakMap<EngineConnection, { gate: UnauthenticatedGate; address: string }>();
  private readonly connectionLoads = new WeakMap<EngineConnection, ConnectionLoad>();
  private readonly loads = new Map<string, UserLoad>();

  constructor(
    private readonly config: Config,
    private readonly stopwatch: Stopwatch,
    private readonly addresses: ClientAddresses,
    private readonly http: HttpAdapterHost,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(ConnectionBounds.name);
    // Under any configuration one event of maximum size fits, and another partial one.
    const { maxRelayBytes, maxBodyBytes } = config;
    const user = Math.max(maxRelayBytes / USERS_PART, 3 * maxBodyBytes);
    this.limits = { user, total: Math.max(maxRelayBytes, user), heldBytes: 0, loads: new Set() };
  }

  /** Incomplete or unread bytes of all users. */
  get held(): number {
    return this.limits.heldBytes;
  }

  /** The client address of a request. */
  addressOf(request: IncomingMessage): string {
    return this.addresses.of(request);
  }

  /** Whether the address may open one more websocket. */
  mayOpen(request: IncomingMessage): boolean {
    const { maxAddressUnauthenticated } = this.config;
    return networksOf(this.addresses.of(request)).every(
      ({ key, times }) => this.unauthenticated.heldBy(key) < maxAddressUnauthenticated * times,
    );
  }

  /** Registers an unauthenticated websocket. */
  opened(connection: EngineConnection): void {
    const { socket } = connection.request;
    const address = this.addresses.of(connection.request);
    this.count(address, 1);
    this.gates.set(connection, { gate: new UnauthenticatedGate(connection), address });
    connection.on('close', () => {
      destroyConnection(socket);
      this.removeGate(connection);
    });
  }

  /** Registers a connection whose handshake was accepted for its user. */
  admitted(connection: EngineConnection, userId: string): ConnectionLoad {
    this.removeGate(connection);
    const known = this.connectionLoads.get(connection);
    if (known !== undefined) return known;
    this.http.httpAdapter.getInstance<FastifyInstance>().connections.pin(connection.request.socket);
    const load = this.loadOf(userId);
    const onCut = (why: string): void => this.logger.warn({ userId }, `A relay connection was ended: ${why}`);
    const connectionLoad = new ConnectionLoad(connection, load, this.config.answerMs, onCut);
    this.connectionLoads.set(connection, connectionLoad);
    forgetRequest(connection);
    return connectionLoad;
  }

  /** Resolves when the client has read enough to be sent another call. */
  async backpressure(connection: EngineConnection): Promise<void> {
    const connectionLoad = this.connectionLoads.get(connection);
    if (connectionLoad !== undefined) await connectionLoad.load.backpressure(connectionLoad);
  }

  /** Records that the connection was sent a call. */
  callSent(connection: EngineConnection): void {
    this.connectionLoads.get(connection)?.flood.sent();
  }

  private loadOf(userId: string): UserLoad {
    for (const [id, load] of this.loads) {
      // Loads outlive the last connection, so reconnecting does not reset them.
      if (this.loads.size <= MAX_REMEMBERED) break;
      if (load.isDisposable) this.loads.delete(id);
    }
    const limited = this.config.rateLimit !== null;
    const load = this.loads.get(userId) ?? new UserLoad(this.limits, limited, () => this.stopwatch.elapsed());
    this.loads.delete(userId);
    this.loads.set(userId, load);
    return load;
  }

  private removeGate(connection: EngineConnection): void {
    const entry = this.gates.get(connection);
    if (entry === undefined) return;
    this.gates.delete(connection);
    entry.gate.open();
    this.count(entry.address, -1);
  }

  private count(address: string, change: 1 | -1): void {
    for (const { key } of networksOf(address)) this.unauthenticated.change(key, change);
  }
}

/** Keeps of the request only what tells its address: the rest is some KiB for as long as the client is connected. */
function forgetRequest(connection: EngineConnection): void {
  const { socket, headers } = connection.request;
  const forwarded = headers['x-forwarded-for'];
  const kept = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  Object.assign(connection, { request: { socket, connection: socket, headers: kept } });
}
