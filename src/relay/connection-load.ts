import { longTimeout } from '../common/timers.js';
import { FloodGate } from './flood-gate.js';
import type { EngineConnection } from './unauthenticated-gate.js';
import type { LoadedConnection, UserLoad } from './user-load.js';
import { websocketOn } from './websockets.js';

/** Whoever reads slower than this is not reading. */
const BYTES_A_SECOND = 64 * 1024;
/** A control frame of a websocket, without what it carries. */
const CONTROL_BYTES = 6;
/** Answers to such frames, beside the events that wait. */
const MAX_CONTROL_BYTES = 1024 * 1024;
/** From an event to the last of its attachments. A frame that does not become whole keeps out the heartbeat, which ends it. */
const EVENT_MS = 300_000;
/** An event with attachments, as Socket.IO writes it. */
const WITH_ATTACHMENTS = /^[56](\d{1,3})-/;

/**
 * One relay connection of a member: counts what it sends, and what waits for it to read, into its user's load. The events
 * of the connection are those that Engine.IO documents.
 */
export class ConnectionLoad implements LoadedConnection {
  /** Bytes of a frame that is not whole yet. */
  private partial = 0;
  /** Attachments that came of an event, and how many are still to come. */
  private attached = 0;
  private expected = 0;
  /** Bytes that wait for those which are being written; those of the last flush. */
  private queued = 0;
  private flushed = 0;
  private writing = 0;
  private tooSlow: NodeJS.Timeout | undefined;
  private unfinished: NodeJS.Timeout | undefined;
  private ended = false;
  private readonly websocket: ReturnType<typeof websocketOn>;
  readonly flood: FloodGate;

  /**
   * @param answerMs how long a client may take to read, and a second more for each 64 KiB
   * @param onCut is told why the connection was ended
   */
  constructor(
    private readonly connection: EngineConnection,
    readonly load: UserLoad,
    private readonly answerMs: number,
    private readonly onCut: (why: string) => void,
  ) {
    this.flood = new FloodGate(load.elapsed, load.flood);
    const { socket } = connection.request;
    this.websocket = websocketOn(socket);
    socket.prependListener('data', this.onData);
    this.websocket.on('ping', this.onControl).on('pong', this.onControl);
    connection.on('packet', this.onPacket).on('packetCreate', this.onSend);
    connection.on('flush', this.onFlush).on('drain', this.onFlushed);
    connection.once('close', () => this.end());
    load.join(this);
  }

  get held(): number {
    return this.partial + this.attached + this.unread;
  }

  get unread(): number {
    return this.queued + this.writing;
  }

  hold(): void {
    this.websocket.pause();
  }

  goOn(): void {
    this.websocket.resume();
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.ended) return;
    this.load.pace(chunk.length);
    this.partial += chunk.length;
    if (!this.load.arrive(chunk.length)) this.cut('it has sent too many incomplete events');
  };

  private readonly onControl = (content: Buffer): void => {
    this.settle(content.length + CONTROL_BYTES);
    const answers = this.connection.request.socket.writableLength - this.writing;
    if (!this.mayGoOn() || answers > MAX_CONTROL_BYTES) this.cut('it floods');
  };

  private readonly onPacket = ({ data }: { data?: unknown }): void => {
    // What had arrived by its end is still put together, and counts for nothing.
    if (this.ended) return;
    this.settle(this.partial);
    if (!this.mayGoOn()) setImmediate(() => this.cut('it floods'));
    if (Buffer.isBuffer(data)) this.attach(data.length);
    else if (typeof data === 'string') {
      this.detach();
      this.expected = Number(WITH_ATTACHMENTS.exec(data.slice(0, 8))?.[1] ?? 0);
      if (this.expected > 0)
        this.unfinished = longTimeout(() => this.cut('it did not complete an event in time'), EVENT_MS);
    }
  };

  private mayGoOn(): boolean {
    return !this.load.limited || this.flood.pass();
  }

  private attach(bytes: number): void {
    this.expected -= 1;
    if (this.expected <= 0) return this.detach();
    this.attached += bytes;
    this.load.arrive(bytes);
  }

  private detach(): void {
    clearTimeout(this.unfinished);
    this.load.arrive(-this.attached);
    this.attached = 0;
  }

  private settle(bytes: number): void {
    const settled = Math.min(bytes, this.partial);
    this.partial -= settled;
    this.load.arrive(-settled);
  }

  private readonly onSend = ({ data }: { data?: unknown }): void => {
    if (this.ended) return;
    const isBehind = this.unread > 0;
    const bytes = typeof data === 'string' || Buffer.isBuffer(data) ? Buffer.byteLength(data) : 0;
    this.queued += bytes;
    // What stands alone is sent, however large it is.
    if (!this.load.wait(bytes) && isBehind) this.cut('it does not read what the server sends');
  };

  private readonly onFlush = (): void => {
    if (this.ended) return;
    this.flushed = this.queued;
    this.writing += this.flushed;
    this.queued = 0;
    clearTimeout(this.tooSlow);
    const allowed = this.answerMs + (this.writing / BYTES_A_SECOND) * 1000;
    this.tooSlow = longTimeout(() => this.cut('it does not read what the server sends'), allowed);
  };

  /** The TCP socket has the bytes of a flush. They count as read when the system took them, or an empty write behind them. */
  private readonly onFlushed = (): void => {
    const { flushed } = this;
    const { socket } = this.connection.request;
    if (socket.writableLength === 0) this.onWritten(flushed);
    else if (socket.writable) socket.write('', () => this.onWritten(flushed));
  };

  private onWritten(bytes: number): void {
    if (this.ended) return;
    this.writing -= bytes;
    // The next flush may have begun.
    if (this.writing === 0) clearTimeout(this.tooSlow);
    this.load.wait(-bytes);
  }

  cut(why: string): void {
    if (this.ended) return;
    this.end();
    this.onCut(why);
    this.connection.request.socket.destroy();
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.tooSlow);
    clearTimeout(this.unfinished);
    this.load.arrive(-this.partial - this.attached);
    this.load.wait(-this.unread);
    this.partial = this.attached = this.queued = this.writing = 0;
    this.load.leave(this);
    this.connection.request.socket.off('data', this.onData);
  }
}
