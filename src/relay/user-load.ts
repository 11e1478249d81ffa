import { fairShare } from '../limits/budget.js';
import { RoundRobin } from '../limits/round-robin.js';
import { FloodGate } from './flood-gate.js';

const MIB = 1024 * 1024;
/** Bytes that a user may send at once, and how many a second they may keep up. */
const BURST_BYTES = 64 * MIB;
const BYTES_PER_SECOND = 32 * MIB;
/** A call is put together for a client that has no more than this to read. */
const ROOM_BYTES = 4 * MIB;

/** What one connection of a user is asked to do for all of them. */
export interface LoadedConnection {
  /** Reads nothing until it is told to go on. */
  hold(): void;
  goOn(): void;
  /** Bytes of it that are not whole yet, or wait to be read. */
  readonly held: number;
  /** Those that wait to be read. */
  readonly unread: number;
  /** Ends it, and gives back what it holds. */
  cut(why: string): void;
}

/** Bounds in bytes, shared by all users of a node. */
export interface LoadLimits {
  /** Of one user: what arrives and is not whole yet; what waits to be read; twice what is in hand. */
  user: number;
  /** Of what arrives and what waits, of all users. */
  total: number;
  /** Of all users, now. */
  held: number;
  /** The users who have connections. */
  readonly loads: Set<UserLoad>;
}

/**
 * What the relay connections of one user hold together. Bytes that arrive faster than they may, or than they are dealt
 * with, are left to the network: nothing is lost and nothing has to be sent again. What can't be bounded by waiting ends
 * the connection.
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
  /** Calls that wait for room, by the line that they are for; the line that comes first is looked at first. */
  private readonly waiters = new RoundRobin<() => void, LoadedConnection>();
  private makesRoom = false;

  /** @param limited whether events are counted, and bytes by time too. */
  constructor(
    private readonly limits: LoadLimits,
    readonly limited: boolean,
    readonly elapsed: () => number,
  ) {
    this.flood = new FloodGate(elapsed);
    this.at = elapsed();
  }

  /** Bytes were read: those that come too fast are read later. */
  pace(bytes: number): void {
    if (!this.limited) return;
    const now = this.elapsed();
    this.tokens = Math.min(BURST_BYTES, this.tokens + ((now - this.at) / 1000) * BYTES_PER_SECOND) - bytes;
    this.at = now;
    if (this.tokens < 0) this.update();
  }

  /** Bytes are not whole yet, or with a minus have become an event; false where there are too many. */
  arrive(bytes: number): boolean {
    this.arriving += bytes;
    this.limits.held += bytes;
    if (bytes > 0) this.shed();
    return bytes <= 0 || this.arriving <= this.limits.user;
  }

  /** Bytes wait to be read by a client, or with a minus do no longer; false where that are too many. */
  wait(bytes: number): boolean {
    this.waiting += bytes;
    this.limits.held += bytes;
    if (bytes < 0) this.makeRoom();
    else this.shed();
    return bytes <= 0 || this.waiting <= this.limits.user;
  }

  /** An event is dealt with, or with a minus has been. */
  handle(bytes: number): void {
    this.inHand += bytes;
    this.update();
  }

  /**
   * Resolves once the line has room for a call, one after the other, or is gone. Other lines that are not read do not keep
   * it waiting: where nothing is left for a line that has nothing to read, the one that leaves the most unread is ended.
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
    // Nothing looked at the time while there was no connection.
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

  /** Nothing is known of the user any more that would have to be kept. */
  get isOver(): boolean {
    return this.lines.size === 0 && this.inHand === 0;
  }

  /** Over the bound of all it is not who comes next that goes, but the largest connection of whoever holds the most. */
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

  /** Lets one call go on, of the line that has waited the longest since it last had one. */
  private makeRoom(): void {
    if (this.makesRoom) return;
    const line = this.waiters.next((waiting) => this.hasRoom(waiting));
    if (line === undefined) return;
    this.makesRoom = true;
    // What it sends is counted by then.
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

  /** How long it takes until what came too fast is made up for, in ms. */
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
