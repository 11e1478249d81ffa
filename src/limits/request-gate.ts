import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type ClientAddresses, widestNetworkOf } from '../common/http/client-address.js';
import { loopTurn } from '../common/loop-turn.js';
import { asOwner } from '../common/work-owner.js';
import { RoundRobin } from './round-robin.js';

/** Above this duration of an event-loop turn, ms, the next turn begins fewer requests. */
const LOOP_MS = 50;
/** Fewest and most requests that are begun in one turn of the event loop. */
const MIN_PER_TURN = 8;
const MAX_PER_TURN = 64;
/** Longest time that requests wait for new connections, ms. */
const HOLD_MS = 25;

/**
 * Begins a few requests at a time, with senders in turn. Node accepts one connection per turn of the event loop. If
 * each turn began every pending request, a new connection would wait for as many slow turns as connections before it.
 */
export class RequestGate {
  private readonly waiting = new RoundRobin<() => void>();
  private scheduled = false;
  private hasConnected = false;
  private heldSince: number | null = null;
  /** When requests were last begun while others waited behind them. */
  private lastTurnAt = Infinity;
  private perTurn = MAX_PER_TURN;
  /** The event-loop turn in which a request was last begun directly. */
  private turnBegunIn = -1;

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly currentTurn: () => number = loopTurn,
  ) {}

  /** A connection was accepted: more may be pending behind it. */
  connected(): void {
    this.hasConnected = true;
    this.schedule();
  }

  /** Calls `begin` when it is this sender's turn: at once if nothing is queued or begun in this event-loop turn. */
  enter(sender: string, begin: () => void): void {
    const turn = this.currentTurn();
    if (!this.scheduled && turn !== this.turnBegunIn) {
      this.turnBegunIn = turn;
      return begin();
    }
    this.waiting.push(sender, begin);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    const now = this.now();
    if (this.isHeld(now)) {
      // Time spent waiting does not count as the duration of a turn.
      if (this.lastTurnAt !== Infinity) this.lastTurnAt = now;
      return this.schedule();
    }
    this.perTurn =
      now - this.lastTurnAt > LOOP_MS
        ? Math.max(MIN_PER_TURN, this.perTurn >> 1)
        : Math.min(MAX_PER_TURN, this.perTurn + 1);
    for (let begun = 0; begun < this.perTurn; begun += 1) this.waiting.shift()?.();
    this.lastTurnAt = this.waiting.size > 0 ? now : Infinity;
    if (this.waiting.size > 0) this.schedule();
  }

  /** New connections go first, but only for a short time. */
  private isHeld(now: number): boolean {
    const held = this.hasConnected && this.waiting.size > 0;
    this.hasConnected = false;
    this.heldSince = held ? (this.heldSince ?? now) : null;
    if (this.heldSince === null || now - this.heldSince < HOLD_MS) return held;
    this.heldSince = null;
    return false;
  }
}

/** The sender of a request as a key: a user, or an address or its /48 for requests without a valid token. */
export class Senders {
  /** Returns the user of a request's token, null without a valid one. */
  userOf: (headers: IncomingHttpHeaders) => string | null = () => null;

  constructor(private readonly addresses: ClientAddresses) {}

  of(request: IncomingMessage): string {
    return this.userOf(request.headers) ?? `address ${widestNetworkOf(this.addresses.of(request))}`;
  }
}

/** Puts a gate before all requests of a server except health probes. */
export function gateRequests(fastify: FastifyInstance, senders: Senders): void {
  const gate = new RequestGate();
  fastify.server.on('connection', () => gate.connected());
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.url.startsWith('/health/')) return done();
    const sender = senders.of(request.raw);
    gate.enter(sender, () => {
      // The client has already disconnected.
      if (!request.raw.socket.destroyed) asOwner(sender, done);
    });
  });
}
