import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../common/pino-logger.js';
import { Bus } from '../events/bus.js';
import type { BusMessage } from '../events/messages.js';
import { ClientMessages } from '../clients/client-messages.js';
import { type ConnectedClient, ConnectedClients, isOfFolder } from '../clients/connected-clients.js';
import { Clock } from '../common/clock.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SessionStore } from '../storage/records/sessions.js';
import { TurnStore } from '../storage/ports/turns.store.js';

/** Sessions that a connecting client is told of: the number of the newest, and their age in ms. */
const MAX_SESSIONS = 20;
const MAX_AGE_MS = 24 * 60 * 60_000;

/** Tells clients about their user's sessions, so that they report their Active Files [RELAY-20]. */
@Injectable()
export class SessionOpenings {
  constructor(
    sessions: SessionsService,
    bus: Bus,
    messages: ClientMessages,
    private readonly clients: ConnectedClients,
    private readonly store: SessionStore,
    private readonly turns: TurnStore,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(SessionOpenings.name);
    sessions.created$.subscribe(({ id: sessionId, workspaceId, userId, conversationId, clientId }) => {
      bus.publish({ type: 'session_opened', workspaceId, userId, sessionId, conversationId, clientId });
    });
    messages.received$.subscribe((message) => message.type === 'session_opened' && this.onCreated(message));
  }

  /** Tells a client that has just resumed about existing sessions. */
  async notifyClient(client: ConnectedClient): Promise<void> {
    const { workspaceId, userId, clientId } = client.key;
    try {
      const newest = await this.store.ofUser(workspaceId, userId, null, MAX_SESSIONS);
      const since = this.clock.now() - MAX_AGE_MS;
      for (const { id: sessionId, conversationId, clientId: bound, createdAt } of newest) {
        if (createdAt < since || (bound !== null && bound !== clientId)) continue;
        const use = await this.turns.lastUseOf(workspaceId, sessionId);
        if (isOfFolder(client, use?.folder ?? null))
          client.channel.sessionOpened({ sessionId, conversationId });
      }
    } catch (error) {
      this.logger.warn({ err: error, ...client.key }, 'A client could not be told of its sessions');
    }
  }

  private onCreated(session: BusMessage & { type: 'session_opened' }): void {
    const { workspaceId, userId, sessionId, conversationId, clientId: bound } = session;
    for (const { ready, key, channel } of this.clients.ofUser(workspaceId, userId)) {
      if (ready && (bound === null || bound === key.clientId))
        channel.sessionOpened({ sessionId, conversationId });
    }
  }
}
