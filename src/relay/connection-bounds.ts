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
import { type EngineConnection, letGo, UnauthenticatedGate } from './unauthenticated-gate.js';
import { type LoadLimits, UserLoad } from './user-load.js';

/** A user's part of what all of them may hold. */
const USERS_PART = 4;
/** Users of whom it is remembered how much they have sent lately. */
const MAX_REMEMBERED = 1_000;

/** The connections below the relay's sockets: of strangers until their handshake is accepted, then of users. */
@Injectable()
export class ConnectionBounds {
  private readonly limits: LoadLimits;
  /** Websockets without a handshake, by address, and by the network of those. */
  private readonly unauthenticated = new Budget({});
  private readonly gates = new WeakMap<EngineConnection, { gate: UnauthenticatedGate; address: string }>();
  private readonly lines = new WeakMap<EngineConnection, ConnectionLoad>();
  private readonly loads = new Map<string, UserLoad>();

  constructor(
    private readonly config: Config,
    private readonly stopwatch: Stopwatch,
    private readonly addresses: ClientAddresses,
    private readonly http: HttpAdapterHost,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(ConnectionBounds.name);
    // However little was configured, an event at its limit fits, and another that is not whole.
    const { maxRelayBytes, maxBodyBytes } = config;
    const user = Math.max(maxRelayBytes / USERS_PART, 3 * maxBodyBytes);
    this.limits = { user, total: Math.max(maxRelayBytes, user), held: 0, loads: new Set() };
  }

  /** Bytes that arrive and are not whole, or wait to be read, of all users. */
  get held(): number {
    return this.limits.held;
  }

  /** Where a request comes from. */
  addressOf(request: IncomingMessage): string {
    return this.addresses.of(request);
  }

  /** Whether its address may open one more websocket. */
  mayOpen(request: IncomingMessage): boolean {
    const { maxAddressUnauthenticated } = this.config;
    return networksOf(this.addresses.of(request)).every(
      ({ key, times }) => this.unauthenticated.heldBy(key) < maxAddressUnauthenticated * times,
    );
  }

  /** A websocket was opened by a stranger. */
  opened(connection: EngineConnection): void {
    const address = this.addresses.of(connection.request);
    this.count(address, 1);
    this.gates.set(connection, { gate: new UnauthenticatedGate(connection), address });
    connection.once('close', () => {
      letGo(connection);
      this.noLongerStrange(connection);
    });
  }

  /** The handshake of a connection was accepted: it is a user's from now on. */
  admitted(connection: EngineConnection, userId: string): ConnectionLoad {
    this.noLongerStrange(connection);
    const known = this.lines.get(connection);
    if (known !== undefined) return known;
    this.http.httpAdapter.getInstance<FastifyInstance>().connections.pin(connection.request.socket);
    const load = this.loadOf(userId);
    const onCut = (why: string): void => this.logger.warn({ userId }, `A relay connection was ended: ${why}`);
    const line = new ConnectionLoad(connection, load, this.config.answerMs, onCut);
    this.lines.set(connection, line);
    return line;
  }

  /** Resolves once the client of the connection has read enough to be sent another call. */
  async room(connection: EngineConnection): Promise<void> {
    const line = this.lines.get(connection);
    if (line !== undefined) await line.load.room(line);
  }

  /** The connection was sent a call. */
  callSent(connection: EngineConnection): void {
    this.lines.get(connection)?.flood.sent();
  }

  private loadOf(userId: string): UserLoad {
    for (const [id, load] of this.loads) {
      // Not at once when the last connection ends: nobody is new with each connection.
      if (this.loads.size <= MAX_REMEMBERED) break;
      if (load.isOver) this.loads.delete(id);
    }
    const limited = this.config.rateLimit !== null;
    const load = this.loads.get(userId) ?? new UserLoad(this.limits, limited, () => this.stopwatch.elapsed());
    this.loads.delete(userId);
    this.loads.set(userId, load);
    return load;
  }

  private noLongerStrange(connection: EngineConnection): void {
    const stranger = this.gates.get(connection);
    if (stranger === undefined) return;
    this.gates.delete(connection);
    stranger.gate.open();
    this.count(stranger.address, -1);
  }

  private count(address: string, change: 1 | -1): void {
    for (const { key } of networksOf(address)) this.unauthenticated.change(key, change);
  }
}
