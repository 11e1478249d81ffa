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
  hold(): void;
  goOn(): void;
  /** Incomplete or unread bytes of the connection. */
  readonly held: number;
  /** Unread bytes. */
  readonly unread: number;
  /** Ends the connection and releases its bytes. */
  cut(why: string): void;
}

/** Byte limits shared by all users of a node. */
export interface LoadLimits {
  /** Per user: incomplete bytes, unread bytes, and half of the bytes in flight. */
  user: number;
  /** Incomplete and unread bytes of all users. */
  total: number;
  /** Current total of all users. */
  held: number;
  /** The users who have connections. */
  readonly loads: Set<UserLoad>;
}

/**
 * The bytes of all relay connections of one user. Excess input is left to TCP backpressure, so nothing is lost or
 * resent. Excess that waiting cannot bound ends the connection.
 */
export class UserLoad {
  readonly flood: FloodGate;
  readonly lines = new Set<LoadedConnection>();
  private arriving = 0;
  private waiting = 0;
  private inHand = 0;
  private tokens = BURST_BYTES;
  private at: number;
  private isHeld = false;
  private timer: NodeJS.Timeout | undefined;
  /** Calls that wait for room, by channel, served round robin. */
  private readonly waiters = new RoundRobin<() => void, LoadedConnection>();
  private makesRoom = false;

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
    this.limits.held += bytes;
    if (bytes > 0) this.shed();
    return bytes <= 0 || this.arriving <= this.limits.user;
  }

  /** Adds unread bytes, or with a minus removes them; false if there are too many. */
  wait(bytes: number): boolean {
    this.waiting += bytes;
    this.limits.held += bytes;
    if (bytes < 0) this.makeRoom();
    else this.shed();
    return bytes <= 0 || this.waiting <= this.limits.user;
  }

  /** Adds bytes of an event in flight, or with a minus removes them. */
  handle(bytes: number): void {
    this.inHand += bytes;
    this.update();
  }

  /**
   * Resolves when the channel has room for a call, in order, or is gone. Other unread channels do not block it: if no
   * room is left for an idle channel, the one with the most unread bytes is cut.
   */
  room(line: LoadedConnection): Promise<void> {
    if (!this.lines.has(line)) return Promise.resolve();
    if (line.unread === 0 && !this.hasRoom(line)) this.endLargest();
    if (this.waiters.sizeOf(line) === 0 && this.hasRoom(line)) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(line, resolve));
  }

  join(line: LoadedConnection): void {
    this.lines.add(line);
    this.limits.loads.add(this);
    // The time was not tracked while there was no connection.
    this.update();
    if (this.isHeld) line.hold();
  }

  leave(line: LoadedConnection): void {
    this.lines.delete(line);
    for (const resolve of this.waiters.clear(line)) resolve();
    if (this.lines.size > 0) return;
    this.limits.loads.delete(this);
    clearTimeout(this.timer);
    this.isHeld = false;
  }

  /** Whether no state of the user has to be kept. */
  get isOver(): boolean {
    return this.lines.size === 0 && this.inHand === 0;
  }

  /** Over the total limit, cuts the largest connection of the user who holds the most, not the newcomer. */
  private shed(): void {
    const { limits } = this;
    while (limits.held > limits.total) {
      const load = largest(limits.loads, ({ arriving, waiting }) => arriving + waiting);
      const line = load && largest(load.lines, ({ held }) => held);
      if (line === undefined || line.held === 0) return;
      line.cut('it holds the most memory, and all connections together hold too much');
    }
  }

  private endLargest(): void {
    const line = largest(this.lines, ({ unread }) => unread);
    line?.cut('it has the most unread data, and other connections of its user have no room');
  }

  private hasRoom({ unread }: LoadedConnection): boolean {
    return unread < Math.min(ROOM_BYTES, fairShare(this.limits.user, this.waiting - unread));
  }

  /** Lets one waiting call proceed, of the channel that was served least recently. */
  private makeRoom(): void {
    if (this.makesRoom) return;
    const line = this.waiters.next((waiting) => this.hasRoom(waiting));
    if (line === undefined) return;
    this.makesRoom = true;
    // By then the sent bytes are counted.
    setImmediate(() => {
      this.makesRoom = false;
      this.makeRoom();
    });
    this.waiters.shift(line)!();
  }

  private update(): void {
    const debt = this.debtMs();
    const held = debt > 0 || this.inHand > this.limits.user / 2;
    clearTimeout(this.timer);
    if (debt > 0) this.timer = setTimeout(() => this.update(), debt).unref();
    if (held === this.isHeld) return;
    this.isHeld = held;
    for (const line of this.lines) {
      if (held) line.hold();
      else line.goOn();
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
