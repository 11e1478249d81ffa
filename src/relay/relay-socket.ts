import type {
  ClientToServerEvents,
  FilesChanged,
  ServerToClientEvents,
  SessionOpened,
  ToolCallDelivery,
  ToolCancel,
} from '@patchbay/protocol';
import type { DefaultEventsMap, Namespace, Socket } from 'socket.io';
import type { ClientLine, ConnectedClient, DeliveryOutcome } from '../clients/connected-clients.js';
import { DELIVERY_ACK_MS } from '../delivery/dispatcher.js';
import type { HandshakeDto } from './relay.dto.js';

/** What the handshake leaves on a socket. */
export interface RelaySocketData {
  handshake: HandshakeDto;
  userId: string;
  /** Of the token; null where it names none. */
  loginId: string | null;
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

/** A client's line over its socket. */
export class SocketLine implements ClientLine {
  constructor(private readonly socket: RelaySocket) {}

  deliver(call: ToolCallDelivery): Promise<DeliveryOutcome> {
    return new Promise((resolve) => {
      const gone = (): void => resolve({ kind: 'lost' });
      this.socket.once('disconnect', gone);
      this.socket.timeout(DELIVERY_ACK_MS).emit('tool:call', call, (error, answer) => {
        this.socket.off('disconnect', gone);
        resolve(error ? { kind: 'lost' } : readAnswer(answer));
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
}

/** Notices are acknowledged for form's sake; nothing hangs on it. */
export function ignore(): void {}

/** Whatever is not a plain yes counts as a refusal: the call was not journaled. */
function readAnswer(answer: unknown): DeliveryOutcome {
  if (typeof answer !== 'object' || answer === null)
    return { kind: 'refused', message: 'no readable answer' };
  const { ok, error } = answer as { ok?: unknown; error?: { message?: unknown } };
  if (ok === true) return { kind: 'acknowledged' };
  const message = typeof error?.message === 'string' ? error.message : 'no reason given';
  return { kind: 'refused', message: message.toWellFormed().slice(0, 1000) };
}
