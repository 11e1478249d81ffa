import { fairShare } from '../limits/budget.js';
import { RoundRobin } from '../limits/round-robin.js';
import { FloodGate } from './flood-gate.js';

const MIB = 1024 * 1024;
/** Bytes per user: the burst, and the sustained rate per second. */
const BURST_BYTES = 64 * MIB;
const BYTES_PER_SECOND = 32 * MIB;
/** A call is sent only to a client with at most this much unread. */
const ROOM_BYTES = 4 * MIB;

/** Operations that a user's load performs on one connection. */
export interface LoadedConnection {
  /** Stops reading until resumed. */
  pause(): void;
  resume(): void;
  /** Incomplete or unread bytes of the connection. */
  readonly heldBytes: number;
  /** Unread bytes. */
  readonly unread: number;
  /** Ends the connection and releases its bytes. */
  cut(why: string): void;
}

/** Byte limits shared by all users of a node. */
export interface LoadLimits {
  /** Per user, for incomplete and for unread bytes; half of it for bytes in flight. */
  user: number;
  /** Incomplete and unread bytes of all users. */
  total: number;
  /** Current total of all users. */
  heldBytes: number;
  /** The users who have connections. */
  readonly loads: Set<UserLoad>;
}

/**
 * The bytes of all relay connections of one user. Excess input is left to TCP backpressure, so nothing is lost or
 * resent. Excess that waiting cannot bound ends the connection.
 */
export class UserLoad {
  readonly flood: FloodGate;
  readonly connections = new Set<LoadedConnection>();
  private arriving = 0;
  private waiting = 0;
  private inFlight = 0;
  private tokens = BURST_BYTES;
  private at: number;
  private isPaused = false;
  private timer: NodeJS.Timeout | undefined;
  /** Calls that wait for room, by channel, served round robin. */
  private readonly waiters = new RoundRobin<() => void, LoadedConnection>();
  private isScheduled = false;

  /** @param limited whether events and the byte rate are limited */
  constructor(
    private readonly limits: LoadLimits,
    readonly limited: boolean,
    readonly elapsed: () => number,
  ) {
    this.flood = new FloodGate(elapsed);
    this.at = elapsed();
  }

  /** Counts read bytes; excess delays further reads. */
  pace(bytes: number): void {
    if (!this.limited) return;
    const now = this.elapsed();
    this.tokens = Math.min(BURST_BYTES, this.tokens + ((now - this.at) / 1000) * BYTES_PER_SECOND) - bytes;
    this.at = now;
    if (this.tokens < 0) this.update();
  }

  /** Adds incomplete bytes, or with a minus removes them; false if there are too many. */
  arrive(bytes: number): boolean {
    this.arriving += bytes;
    this.limits.heldBytes += bytes;
    if (bytes > 0) this.cutLargestUser();
    return bytes <= 0 || this.arriving <= this.limits.user;
  }

  /** Adds unread bytes, or with a minus removes them; false if there are too many. */
  wait(bytes: number): boolean {
    this.waiting += bytes;
    this.limits.heldBytes += bytes;
    if (bytes < 0) this.admitNext();
    else this.cutLargestUser();
    return bytes <= 0 || this.waiting <= this.limits.user;
  }

  /** Adds bytes of an event in flight, or with a minus removes them. */
  handle(bytes: number): void {
    this.inFlight += bytes;
    this.update();
  }

  /**
   * Resolves when the channel has room for a call, in order, or is gone. Other unread channels do not block it: if no
   * room is left for an idle channel, the one with the most unread bytes is cut.
   */
  backpressure(connection: LoadedConnection): Promise<void> {
    if (!this.connections.has(connection)) return Promise.resolve();
    if (connection.unread === 0 && !this.hasRoom(connection)) this.endLargest();
    if (this.waiters.sizeOf(connection) === 0 && this.hasRoom(connection)) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(connection, resolve));
  }

  join(connection: LoadedConnection): void {
    this.connections.add(connection);
    this.limits.loads.add(this);
    // The time was not tracked while there was no connection.
    this.update();
    if (this.isPaused) connection.pause();
  }

  leave(connection: LoadedConnection): void {
    this.connections.delete(connection);
    for (const resolve of this.waiters.clear(connection)) resolve();
    if (this.connections.size > 0) return;
    this.limits.loads.delete(this);
    clearTimeout(this.timer);
    this.isPaused = false;
  }

  /** Whether no state of the user has to be kept. */
  get isDisposable(): boolean {
    return this.connections.size === 0 && this.inFlight === 0;
  }

  /** Over the total limit, cuts the largest connection of the user who holds the most, not the newcomer. */
  private cutLargestUser(): void {
    const { limits } = this;
    while (limits.heldBytes > limits.total) {
      const load = largest(limits.loads, ({ arriving, waiting }) => arriving + waiting);
      const connection = load && largest(load.connections, ({ heldBytes }) => heldBytes);
      if (connection === undefined || connection.heldBytes === 0) return;
      connection.cut('it holds the most memory, and all connections together hold too much');
    }
  }

  private endLargest(): void {
    const connection = largest(this.connections, ({ unread }) => unread);
    connection?.cut('it has the most unread data, and other connections of its user have no room');
  }

  private hasRoom({ unread }: LoadedConnection): boolean {
    return unread < Math.min(ROOM_BYTES, fairShare(this.limits.user, this.waiting - unread));
  }

  /** Lets one waiting call proceed, of the channel that was served least recently. */
  private admitNext(): void {
    if (this.isScheduled) return;
    const connection = this.waiters.next((waiting) => this.hasRoom(waiting));
    if (connection === undefined) return;
    this.isScheduled = true;
    // By then the sent bytes are counted.
    setImmediate(() => {
      this.isScheduled = false;
      this.admitNext();
    });
    this.waiters.shift(connection)!();
  }

  private update(): void {
    const debt = this.debtMs();
    const paused = debt > 0 || this.inFlight > this.limits.user / 2;
    clearTimeout(this.timer);
    if (debt > 0) this.timer = setTimeout(() => this.update(), debt).unref();
    if (paused === this.isPaused) return;
    this.isPaused = paused;
    for (const connection of this.connections) {
      if (paused) connection.pause();
      else connection.resume();
    }
  }

  /** Time until the byte rate is back within the limit, ms. */
  private debtMs(): number {
    const tokens = this.tokens + ((this.elapsed() - this.at) / 1000) * BYTES_PER_SECOND;
    return tokens < 0 ? Math.ceil((-tokens / BYTES_PER_SECOND) * 1000) : 0;
  }
}

function largest<Item>(items: Iterable<Item>, size: (item: Item) => number): Item | undefined {
  let found: Item | undefined;
  for (const item of items) if (found === undefined || size(item) > size(found)) found = item;
  return found;
}
