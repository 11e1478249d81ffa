import {
  type Ack,
  type ClientToServerEvents,
  cutText,
  type FileRead,
  type FileReadAnswer,
  type FilesChanged,
  type ServerToClientEvents,
  type SessionOpened,
  type ToolCallDelivery,
  type ToolCancel,
} from '@patchbay/protocol';
import type { DefaultEventsMap, Namespace, Socket } from 'socket.io';
import type { PinoLogger } from '../common/pino-logger.js';
import type { ClientChannel, ConnectedClient, DeliveryOutcome } from '../clients/connected-clients.js';
import { fileReadMs } from '../clients/file-read-time.js';
import type { Clock } from '../common/clock.js';
import type { Config } from '../config/config.js';
import { checkFileAnswer } from './file-answer.js';
import type { ConnectionBounds } from './connection-bounds.js';

/** How long a client that ignored a `file:read` is not asked again, ms [RELAY-23]. */
const SILENCE_MS = 60_000;

/** Data that the handshake stores on a socket. */
export interface RelaySocketData {
  /** Displayed name of the client. */
  name: string;
  userId: string;
  /** Login of the client's newest token. */
  loginId: string;
  /** Epoch ms. */
  tokenExpiresAt: number;
  client: ConnectedClient;
}

export type RelaySocket = Socket<
  ClientToServerEvents,
  ServerToClientEvents,
  DefaultEventsMap,
  RelaySocketData
>;
export type RelayNamespace = Namespace<
  ClientToServerEvents,
  ServerToClientEvents,
  DefaultEventsMap,
  RelaySocketData
>;

/** A client's channel over its socket. */
export class SocketChannel implements ClientChannel {
  /** Until when (epoch ms) the client is not asked for files, after it ignored a read. */
  private silentUntil = 0;

  constructor(
    private readonly socket: RelaySocket,
    private readonly bounds: Pick<ConnectionBounds, 'backpressure' | 'callSent'>,
    private readonly config: Pick<Config, 'acknowledgeMs' | 'fileReadMs'>,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  backpressure(): Promise<void> {
    return this.bounds.backpressure(this.socket.conn);
  }

  deliver(call: ToolCallDelivery): Promise<DeliveryOutcome> {
    return new Promise((resolve) => {
      this.bounds.callSent(this.socket.conn);
      this.socket.timeout(this.config.acknowledgeMs).emit('tool:call', call, (error, answer) => {
        resolve(error ? { kind: 'lost' } : readAnswer(answer));
      });
    });
  }

  readFile(read: FileRead): Promise<Ack<FileReadAnswer> | null> {
    if (this.silentUntil > this.clock.now() || !this.socket.connected) return Promise.resolve(null);
    return new Promise((resolve) => {
      const onDisconnect = (): void => resolve(null);
      this.socket.once('disconnect', onDisconnect);
      const timeoutMs = fileReadMs(this.config, read.maxBytes);
      this.socket.timeout(timeoutMs).emit('file:read', read, (error, answer: unknown) => {
        this.socket.off('disconnect', onDisconnect);
        if (error) this.silentUntil = this.clock.now() + SILENCE_MS;
        resolve(error ? null : this.validAnswer(answer, read));
      });
    });
  }

  stop(cancel: ToolCancel): void {
    this.socket.emit('tool:cancel', cancel, ignore);
  }

  sessionOpened(session: SessionOpened): void {
    this.socket.emit('session:opened', session, ignore);
  }

  filesChanged(changed: FilesChanged): void {
    this.socket.emit('files:changed', changed, ignore);
  }

  replaced(): void {
    const message = 'Another connection with this clientId has taken over.';
    this.socket.emit('client:replaced', { message }, ignore);
    this.socket.disconnect(true);
  }

  close(): void {
    this.socket.disconnect(true);
  }

  private validAnswer(answer: unknown, { maxBytes }: FileRead): Ack<FileReadAnswer> | null {
    const checked = checkFileAnswer(answer, maxBytes);
    if (typeof checked !== 'string') return checked;
    this.logger.warn({ ...this.socket.data.client.key, fault: checked }, 'A client’s file is not taken');
    return null;
  }
}

/**
 * Handles an event. `body` is what the client sent, a list if it sent several values; `RelayConnections` has put the
 * acknowledgement behind it.
 */
export function onEvent(
  socket: RelaySocket,
  event: string,
  handle: (body: unknown, answer: (ack: Ack) => void) => void,
): void {
  socket.on(event as keyof ClientToServerEvents, (...args: unknown[]) => {
    const answer = args.pop() as (ack: Ack) => void;
    handle(args.length > 1 ? args : args[0], answer);
  });
}

/** Accepts and ignores the acknowledgement of a notice. */
export function ignore(): void {}

/** Anything but a plain success is a refusal: the call was not journaled. */
function readAnswer(answer: unknown): DeliveryOutcome {
  if (typeof answer !== 'object' || answer === null)
    return { kind: 'refused', message: 'no readable answer' };
  const { ok, error } = answer as { ok?: unknown; error?: { message?: unknown } };
  if (ok === true) return { kind: 'acknowledged' };
  const message = typeof error?.message === 'string' ? error.message : 'no reason given';
  return { kind: 'refused', message: cutText(message, 1000) };
}
