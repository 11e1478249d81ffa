import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type ClientAddresses, widestOf } from '../common/http/client-address.js';
import { loopTurn } from '../common/loop-turn.js';
import { asOwner } from '../common/work-owner.js';
import { RoundRobin } from './round-robin.js';

/** How long one turn of the event loop may take before fewer requests are begun in the next, in ms. */
const LOOP_MS = 50;
/** Fewest and most requests that are begun in one turn of the event loop. */
const FEWEST = 8;
const MOST = 64;
/** Longest that requests wait for connections to be taken in first, in ms. */
const HOLD_MS = 25;

/**
 * Lets requests begin a few at a time, whoever sent them in turn. Node takes in one new connection in each turn of the
 * event loop, however many wait: where each turn began all requests that came, a turn took as long as they all did, and
 * a new connection waited for as many turns as there were others before it.
 */
export class RequestGate {
  private readonly waiting = new RoundRobin<() => void>();
  private scheduled = false;
  private hasConnected = false;
  private heldSince: number | null = null;
  /** When requests were begun last, while others waited behind them. */
  private lastTurnAt = Infinity;
  private share = MOST;
  /** The turn of the event loop in which a request was begun at once. */
  private turnBegunIn = -1;

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly turnOfLoop: () => number = loopTurn,
  ) {}

  /** A connection was taken in: more may be waiting behind it. */
  connected(): void {
    this.hasConnected = true;
    this.schedule();
  }

  /** Calls `begin` when it is the turn of this sender: at once where nobody is before them in this turn of the event loop. */
  enter(sender: string, begin: () => void): void {
    const turn = this.turnOfLoop();
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
      // What was waited for is not how long a turn took.
      if (this.lastTurnAt !== Infinity) this.lastTurnAt = now;
      return this.schedule();
    }
    this.share =
      now - this.lastTurnAt > LOOP_MS ? Math.max(FEWEST, this.share >> 1) : Math.min(MOST, this.share + 1);
    for (let begun = 0; begun < this.share; begun += 1) this.waiting.shift()?.();
    this.lastTurnAt = this.waiting.size > 0 ? now : Infinity;
    if (this.waiting.size > 0) this.schedule();
  }

  /** While connections come in they go first, but not for long. */
  private isHeld(now: number): boolean {
    const held = this.hasConnected && this.waiting.size > 0;
    this.hasConnected = false;
    this.heldSince = held ? (this.heldSince ?? now) : null;
    if (this.heldSince === null || now - this.heldSince < HOLD_MS) return held;
    this.heldSince = null;
    return false;
  }
}

/** Who has sent a request, as a key: a user, whatever tokens they use; whoever proves to be none, an address or its /48. */
export class Senders {
  /** Gives the user whose token a request carries, null where it carries none that is good. */
  userOf: (headers: IncomingHttpHeaders) => string | null = () => null;

  constructor(private readonly addresses: ClientAddresses) {}

  of(request: IncomingMessage): string {
    return this.userOf(request.headers) ?? `address ${widestOf(this.addresses.of(request))}`;
  }
}

/** Puts a gate before all requests of a server but those that ask for its health. */
export function gateRequests(fastify: FastifyInstance, senders: Senders): void {
  const gate = new RequestGate();
  fastify.server.on('connection', () => gate.connected());
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.url.startsWith('/health/')) return done();
    const sender = senders.of(request.raw);
    gate.enter(sender, () => {
      // Nobody waits for the answer any more.
      if (!request.raw.socket.destroyed) asOwner(sender, done);
    });
  });
}
