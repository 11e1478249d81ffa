import {
  RELAY_NAMESPACE,
  type Ack,
  type ClientToServerEvents,
  type ErrorCode,
  type FilePut,
  type FilePutAnswer,
  type FolderStatus,
  type HandshakeError,
  type Json,
  type RelayHandshake,
  type ResumeAnswer,
  type ServerToClientEvents,
  type SessionActiveFiles,
  type ToolResultReport,
  type ToolStatus,
} from '@patchbay/protocol';
import { io, type Socket } from 'socket.io-client';
import { isTransient, messageOf, PatchbayError, type PatchbayErrorCode } from '../http/patchbay-error.js';
import type { RelayEnd, RelayLink, RelayPeer, TokenSource } from './relay-state.js';
import { afterAck, listen } from './server-events.js';

const ACK_TIMEOUT_MS = 10_000;
const DRAIN_GRACE_MS = 1_000;
/** A token that could not be had just now is asked for again after this. */
const RENEW_AGAIN_MS = 5_000;

/** What a refused handshake leads to; with a code that is not here the connection ends. */
const REFUSED_HANDSHAKE: Partial<Record<ErrorCode, 'refresh' | 'retry'>> = {
  INVALID_TOKEN: 'refresh',
  UNAVAILABLE: 'retry',
  RATE_LIMITED: 'retry',
  INTERNAL_ERROR: 'retry',
};

export interface RelayConnectionOptions {
  url: string;
  token: TokenSource;
  handshake: Omit<RelayHandshake, 'token'>;
  /** First and longest wait between two tries to connect, in ms; each wait is halved at random. */
  backoffMs: { first: number; longest: number };
}

/** A refusal by the server has `data`, a fault of the transport a `description`. */
type ConnectFault = Error & { data?: HandshakeError; description?: { message?: string } };

/** One socket that is kept up: handshake, resume, backoff, token, and the end of it all. */
export class RelayConnection implements RelayLink {
  private readonly socket: Socket<ServerToClientEvents, ClientToServerEvents>;
  private token: string | undefined;
  private refusedToken: string | undefined;
  private tries = 0;
  /** Off once a resume has failed: results that the server can't take together, or at all, then fail alone. */
  private resumesResults = true;
  private ready = false;
  private ended = false;
  private replaced = false;
  private timer: NodeJS.Timeout | undefined;
  private dropReason: string | undefined;
  private peer!: RelayPeer;

  constructor(private readonly options: RelayConnectionOptions) {
    this.socket = io(new URL(RELAY_NAMESPACE, options.url).href, {
      transports: ['websocket'],
      autoConnect: false,
      reconnection: false,
      forceNew: true,
    });
    this.socket.on('connect', () => void this.resume());
    this.socket.on('connect_error', (error) => this.onRefused(error));
    this.socket.on('disconnect', (reason) => this.onDisconnect(reason));
  }

  open(peer: RelayPeer): void {
    this.peer = peer;
    listen(this.socket, {
      'tool:call': (call) => peer.deliver(call),
      'tool:cancel': (cancel) => peer.cancel(cancel),
      'file:read': (read) => peer.readFile(read),
      'session:opened': (session) => peer.sessionOpened(session),
      'files:changed': (changed) => peer.filesChanged(changed),
      'server:draining': () => afterAck(() => this.leave()),
      'auth:expiring': () => afterAck(() => this.renew()),
      'client:replaced': () => this.onReplaced(),
    });
    void this.connect();
  }

  end(end: RelayEnd): void {
    if (this.ended) return;
    this.ended = true;
    this.ready = false;
    clearTimeout(this.timer);
    this.socket.disconnect();
    this.peer.onState(end);
  }

  sendStatus(status: ToolStatus, timeoutMs: number): Promise<Ack> | null {
    return this.ready ? this.socket.timeout(timeoutMs).emitWithAck('tool:status', status) : null;
  }

  sendResult(report: ToolResultReport): Promise<Ack> | null {
    return this.ready ? this.socket.timeout(ACK_TIMEOUT_MS).emitWithAck('tool:result', report) : null;
  }

  sendFile(file: FilePut, timeoutMs: number): Promise<Ack<FilePutAnswer>> | null {
    return this.ready ? this.socket.timeout(timeoutMs).emitWithAck('files:put', file) : null;
  }

  sendActiveFiles(list: SessionActiveFiles, timeoutMs: number): Promise<Ack> | null {
    return this.ready ? this.socket.timeout(timeoutMs).emitWithAck('session:active_files', list) : null;
  }

  sendFolderStatus(status: FolderStatus, timeoutMs: number): Promise<Ack> | null {
    return this.ready ? this.socket.timeout(timeoutMs).emitWithAck('folder:status', status) : null;
  }

  private async connect(): Promise<void> {
    try {
      this.token = await this.options.token(this.refusedToken);
    } catch (error) {
      if (isTransient(error)) return this.retry(messageOf(error));
      return this.refuse(error instanceof PatchbayError ? error.code : 'INVALID_TOKEN', messageOf(error));
    }
    if (this.ended) return;
    if (this.token === this.refusedToken)
      return this.refuse('INVALID_TOKEN', 'The server refused the token.');
    this.socket.auth = { ...this.options.handshake, token: this.token };
    this.socket.connect();
  }

  private async resume(): Promise<void> {
    const withResults = this.resumesResults;
    try {
      const socket = this.socket.timeout(ACK_TIMEOUT_MS);
      const entries = this.peer.entries(withResults);
      const answer = (await socket.emitWithAck('client:resume', entries)) as Ack<ResumeAnswer>;
      if (!answer.ok) throw new PatchbayError(answer.error.code, answer.error.message);
      this.refusedToken = undefined;
      this.tries = 0;
      this.ready = true;
      await this.peer.resume(answer);
      this.peer.onState({ status: 'connected' });
    } catch (error) {
      const message = `The calls could not be resumed: ${messageOf(error)}`;
      if (!withResults && isForGood(error)) return this.refuse(error.code, message);
      this.resumesResults = false;
      this.drop(message);
    }
  }

  private onRefused(error: ConnectFault): void {
    const fate = error.data ? REFUSED_HANDSHAKE[error.data.code] : 'retry';
    // The transport's own words ("websocket error") say less than what it met ("connect ECONNREFUSED …").
    if (fate === 'retry') return this.retry(error.description?.message || error.message);
    if (fate === 'refresh' && this.refusedToken === undefined) {
      this.refusedToken = this.token;
      void this.connect();
      return;
    }
    const { code, message, details = null } = error.data!;
    this.refuse(code, message, details);
  }

  private onDisconnect(reason: string): void {
    this.ready = false;
    if (this.replaced) return this.end({ status: 'ended', reason: 'replaced' });
    this.retry(this.dropReason ?? reason);
    this.dropReason = undefined;
  }

  /** The server closes right after this notice: that must not lead to another try. */
  private onReplaced(): Ack {
    this.replaced = true;
    return afterAck(() => this.end({ status: 'ended', reason: 'replaced' }));
  }

  private retry(reason: string): void {
    if (this.ended) return;
    const { first, longest } = this.options.backoffMs;
    const full = Math.min(longest, first * 2 ** this.tries++);
    const delayMs = Math.round(full * (0.5 + Math.random() / 2));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.connect(), delayMs);
    this.peer.onState({ status: 'reconnecting', reason, delayMs });
  }

  /** Ends this socket, not the connection: `disconnect` follows and with it the next try. */
  private drop(reason: string): void {
    if (!this.socket.connected) return;
    this.dropReason = reason;
    this.socket.disconnect();
  }

  private refuse(code: PatchbayErrorCode, message: string, details: Json = null): void {
    const error = Object.assign(new PatchbayError(code, message), { details });
    this.end({ status: 'ended', reason: 'refused', error });
  }

  private async leave(): Promise<void> {
    const { id } = this.socket;
    const grace = new Promise((resolve) => setTimeout(resolve, DRAIN_GRACE_MS).unref());
    await Promise.race([this.peer.flushed(), grace]);
    if (this.socket.id === id) this.drop('The server is stopping.');
  }

  /** Hands in another token, if there is one. Else the server closes when this one ends, and the next handshake tells why. */
  private async renew(): Promise<void> {
    const { id } = this.socket;
    try {
      const token = await this.options.token(this.token);
      if (token === this.token) return;
      const ack = (await this.socket.timeout(ACK_TIMEOUT_MS).emitWithAck('auth:refresh', token)) as Ack;
      if (!ack.ok) throw new PatchbayError(ack.error.code, ack.error.message);
      this.token = token;
    } catch (error) {
      if (error instanceof PatchbayError && !isTransient(error)) return;
      const again = () => (this.socket.connected && this.socket.id === id ? this.renew() : undefined);
      setTimeout(() => void again(), RENEW_AGAIN_MS).unref();
    }
  }
}

/** The same list would be refused again. */
function isForGood(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && (error.code === 'TOO_LARGE' || error.code === 'VALIDATION_ERROR');
}
