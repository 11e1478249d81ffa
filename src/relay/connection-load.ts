import type { Socket } from 'node:net';
import { longTimeout } from '../common/timers.js';
import { FloodGate } from './flood-gate.js';
import type { EngineConnection } from './unauthenticated-gate.js';
import type { LoadedConnection, UserLoad } from './user-load.js';
import { websocketOn } from './websockets.js';

/** A client that reads more slowly counts as not reading. */
const BYTES_A_SECOND = 64 * 1024;
/** Size of a websocket control frame without its payload. */
const CONTROL_BYTES = 6;
/** Unread replies to control frames, in addition to the queued events. */
const MAX_CONTROL_BYTES = 1024 * 1024;
/** Time from an event to its last attachment. An incomplete frame blocks the heartbeat, which ends the connection. */
const EVENT_MS = 300_000;
/** An event with attachments, as Socket.IO encodes it. */
const WITH_ATTACHMENTS = /^[56](\d{1,3})-/;

/**
 * One relay connection of a member: adds what it sends, and what it has not read, to its user's load. Uses the
 * documented events of Engine.IO connections.
 */
export class ConnectionLoad implements LoadedConnection {
  /** Bytes of an incomplete frame. */
  private partial = 0;
  /** Received attachment bytes of an event, and the attachments still missing. */
  private attached = 0;
  private expected = 0;
  /** Bytes queued behind the current write, and bytes of the last flush. */
  private queued = 0;
  private flushed = 0;
  private writing = 0;
  private tooSlow: NodeJS.Timeout | undefined;
  private unfinished: NodeJS.Timeout | undefined;
  private ended = false;
  private readonly socket: Socket;
  private readonly websocket: ReturnType<typeof websocketOn>;
  readonly flood: FloodGate;

  /**
   * @param answerMs time for a client to read, plus a second per 64 KiB
   * @param onCut called with the reason when the connection is cut
   */
  constructor(
    connection: EngineConnection,
    readonly load: UserLoad,
    private readonly answerMs: number,
    private readonly onCut: (why: string) => void,
  ) {
    this.flood = new FloodGate(load.elapsed, load.flood);
    this.socket = connection.request.socket;
    this.websocket = websocketOn(this.socket);
    this.socket.prependListener('data', this.onData);
    this.websocket.on('ping', this.onControl).on('pong', this.onControl);
    connection.on('packet', this.onPacket).on('packetCreate', this.onSend);
    connection.on('flush', this.onFlush).on('drain', this.onFlushed).on('close', this.end);
    load.join(this);
  }

  get heldBytes(): number {
    return this.partial + this.attached + this.unread;
  }

  get unread(): number {
    return this.queued + this.writing;
  }

  pause(): void {
    this.websocket.pause();
  }

  resume(): void {
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
    const answers = this.socket.writableLength - this.writing;
    if (!this.mayResume() || answers > MAX_CONTROL_BYTES) this.cut('it floods');
  };

  private readonly onPacket = ({ data }: { data?: unknown }): void => {
    // Data that arrived before the end is still assembled, but no longer counts.
    if (this.ended) return;
    this.settle(this.partial);
    if (!this.mayResume()) setImmediate(() => this.cut('it floods'));
    if (Buffer.isBuffer(data)) this.attach(data.length);
    else if (typeof data === 'string') {
      this.detach();
      this.expected = Number(WITH_ATTACHMENTS.exec(data.slice(0, 8))?.[1] ?? 0);
      if (this.expected > 0)
        this.unfinished = longTimeout(() => this.cut('it did not complete an event in time'), EVENT_MS);
    }
  };

  private mayResume(): boolean {
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
    // A single event is sent, however large it is.
    if (!this.load.wait(bytes) && isBehind) this.cut('it does not read what the server sends');
  };

  private readonly onFlush = (): void => {
    if (this.ended) return;
    this.flushed = this.queued;
    this.writing += this.flushed;
    this.queued = 0;
  };

  /** The TCP socket has the flushed bytes; they count as read once the system took the last write. */
  private readonly onFlushed = (): void => {
    const { flushed } = this;
    const { socket } = this;
    if (socket.writableLength === 0) return this.onWritten(flushed);
    clearTimeout(this.tooSlow);
    const allowed = this.answerMs + (this.writing / BYTES_A_SECOND) * 1000;
    this.tooSlow = longTimeout(() => this.cut('it does not read what the server sends'), allowed);
    if (socket.writable) socket.write('', () => this.onWritten(flushed));
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
    this.socket.destroy();
  }

  private readonly end = (): void => {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.tooSlow);
    clearTimeout(this.unfinished);
    this.load.arrive(-this.partial - this.attached);
    this.load.wait(-this.unread);
    this.partial = this.attached = this.queued = this.writing = 0;
    this.load.leave(this);
    this.socket.off('data', this.onData);
  };
}
