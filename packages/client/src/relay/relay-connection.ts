import {
  RELAY_NAMESPACE,
  type Ack,
  type ClientToServerEvents,
  type FilePut,
  type FilePutAnswer,
  type FolderStatus,
  type RelayError,
  type RelayHandshake,
  type ResumeAnswer,
  type ServerToClientEvents,
  type SessionActiveFiles,
  type ToolResultReport,
  type ToolStatus,
} from '@patchbay/protocol';
import { io, type Socket } from 'socket.io-client';
import { errorFromRelay, isRetryable, messageOf, PatchbayError } from '../http/patchbay-error.js';
import { idleTimeout, type Timer } from './idle-timeout.js';
import type { RelayEnd, RelayLink, RelayPeer, TokenSource } from './relay-state.js';
import { afterAck, listen } from './server-events.js';

const ACK_TIMEOUT_MS = 10_000;
const DRAIN_GRACE_MS = 1_000;
/** Wait before the next attempt if no token could be fetched. */
const RENEW_AGAIN_MS = 5_000;

export interface RelayConnectionOptions {
  url: string;
  token: TokenSource;
  handshake: Omit<RelayHandshake, 'token'>;
  /** First and longest wait between two connection attempts, in ms; each wait is randomly reduced by up to half. */
  backoffMs: { first: number; longest: number };
}

/** A refusal by the server has `data`, a fault of the transport has `description`. */
type ConnectFault = Error & { data?: RelayError; description?: { message?: string } };

/** One socket that is kept connected: handshake, resume, backoff, token refresh, and its end. */
export class RelayConnection implements RelayLink {
  private readonly socket: Socket<ServerToClientEvents, ClientToServerEvents>;
  private token: string | undefined;
  private refusedToken: string | undefined;
  private tries = 0;
  /** False once a resume has failed: results that the server cannot take are then sent, and fail, one by one. */
  private resumesResults = true;
  private ready = false;
  private ended = false;
  private replaced = false;
  private timer: Timer | undefined;
  /** Why this client dropped the socket, and how long the server wants it to wait. */
  private dropped: { why: string; retryAfterMs: number | null } | undefined;
  private peer!: RelayPeer;

  constructor(private readonly options: RelayConnectionOptions) {
    // A proxy may serve the server below a path.
    const { origin, pathname } = new URL(options.url);
    this.socket = io(`${origin}${RELAY_NAMESPACE}`, {
      path: `${pathname.replace(/\/+$/, '')}/socket.io`,
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
      const known = error instanceof PatchbayError;
      const fault = known ? error : new PatchbayError('INVALID_TOKEN', messageOf(error));
      if (!isRetryable(fault)) return this.refuse(fault);
      return this.retry(fault.message, fault.retryAfterMs);
    }
    if (this.ended) return;
    if (this.token === this.refusedToken)
      return this.refuse(new PatchbayError('INVALID_TOKEN', 'The server refused the token.'));
    this.socket.auth = { ...this.options.handshake, token: this.token };
    this.socket.connect();
  }

  private async resume(): Promise<void> {
    const withResults = this.resumesResults;
    try {
      const socket = this.socket.timeout(ACK_TIMEOUT_MS);
      const entries = this.peer.entries(withResults);
      const answer = (await socket.emitWithAck('client:resume', entries)) as Ack<ResumeAnswer>;
      if (!answer.ok) throw errorFromRelay(answer.error);
      this.refusedToken = undefined;
      this.tries = 0;
      this.ready = true;
      await this.peer.resume(answer);
      this.peer.onState({ status: 'connected' });
    } catch (error) {
      const message = `The calls could not be resumed: ${messageOf(error)}`;
      if (!withResults && isForGood(error)) {
        return this.refuse(new PatchbayError(error.code, message, 0, error.fields));
      }
      if (!isBusy(error)) this.resumesResults = false;
      this.drop(message, error instanceof PatchbayError ? error.retryAfterMs : null);
    }
  }

  private onRefused(error: ConnectFault): void {
    // The transport's message ("websocket error") says less than its cause ("connect ECONNREFUSED …").
    if (!error.data) return this.retry(error.description?.message || error.message);
    const refusal = errorFromRelay(error.data);
    if (isRetryable(refusal)) return this.retry(refusal.message, refusal.retryAfterMs);
    if (refusal.code === 'INVALID_TOKEN' && this.refusedToken === undefined) {
      this.refusedToken = this.token;
      void this.connect();
      return;
    }
    this.refuse(refusal);
  }

  private onDisconnect(reason: string): void {
    this.ready = false;
    if (this.replaced) return this.end({ status: 'ended', reason: 'replaced' });
    const { why = reason, retryAfterMs = null } = this.dropped ?? {};
    this.dropped = undefined;
    this.retry(why, retryAfterMs);
  }

  /** The server closes right after this notice, which must not lead to a reconnect. */
  private onReplaced(): Ack {
    this.replaced = true;
    return afterAck(() => this.end({ status: 'ended', reason: 'replaced' }));
  }

  /** Waits longer each time, and never less than the server asks. */
  private retry(reason: string, retryAfterMs: number | null = null): void {
    if (this.ended) return;
    const { first, longest } = this.options.backoffMs;
    const full = Math.min(longest, first * 2 ** this.tries++);
    const delayMs = Math.round((retryAfterMs ?? 0) + full * (0.5 + Math.random() / 2));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.connect(), delayMs);
    this.peer.onState({ status: 'reconnecting', reason, delayMs });
  }

  /** Ends this socket, not the connection: `disconnect` follows and triggers the next attempt. */
  private drop(why: string, retryAfterMs: number | null = null): void {
    if (!this.socket.connected) return;
    this.dropped = { why, retryAfterMs };
    this.socket.disconnect();
  }

  private refuse(error: PatchbayError): void {
    this.end({ status: 'ended', reason: 'refused', error });
  }

  private async leave(): Promise<void> {
    const { id } = this.socket;
    const grace = new Promise((resolve) => idleTimeout(() => resolve(undefined), DRAIN_GRACE_MS));
    await Promise.race([this.peer.flushed(), grace]);
    if (this.socket.id === id) this.drop('The server is stopping.');
  }

  /**
   * Sends another token, if there is one. Otherwise the server closes the socket when the old token expires, and the
   * next handshake reports the reason.
   */
  private async renew(): Promise<void> {
    const { id } = this.socket;
    try {
      const token = await this.options.token(this.token);
      if (token === this.token) return;
      const ack = (await this.socket.timeout(ACK_TIMEOUT_MS).emitWithAck('auth:refresh', token)) as Ack;
      if (!ack.ok) throw errorFromRelay(ack.error);
      this.token = token;
    } catch (error) {
      if (error instanceof PatchbayError && !isRetryable(error)) return;
      const again = () => (this.socket.connected && this.socket.id === id ? this.renew() : undefined);
      const retryAfterMs = error instanceof PatchbayError ? error.retryAfterMs : null;
      idleTimeout(() => void again(), Math.max(RENEW_AGAIN_MS, retryAfterMs ?? 0));
    }
  }
}

/** The server is overloaded or stopping: that is no verdict on the list. */
function isBusy(error: unknown): boolean {
  return error instanceof PatchbayError && (error.code === 'RATE_LIMITED' || error.code === 'UNAVAILABLE');
}

/** The same list would be refused again. */
function isForGood(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && (error.code === 'TOO_LARGE' || error.code === 'VALIDATION_ERROR');
}
