import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../common/pino-logger.js';
import { Bus } from '../events/bus.js';
import type { BusMessage } from '../events/messages.js';
import { EVERY_NODE } from '../events/channels.js';
import { Sweep } from '../common/sweep.js';
import { Config } from '../config/config.js';
import { ClientMessages } from '../clients/client-messages.js';
import { ConnectedClients, isNewer } from '../clients/connected-clients.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { RelayConnections } from './relay-connections.js';

/** What a round looks at grows with the users that are connected: it comes less often than others. */
const SELDOM = 3;

/** Ends connections for what happened elsewhere: a membership or a login has ended, a client has connected again. */
@Injectable()
export class ConnectionEnds extends Sweep {
  constructor(
    private readonly clients: ConnectedClients,
    private readonly connections: RelayConnections,
    private readonly workspaces: WorkspacesService,
    bus: Bus,
    messages: ClientMessages,
    { catchUpMs }: Config,
    logger: PinoLogger,
  ) {
    super(SELDOM * catchUpMs, logger);
    bus.subscribe(EVERY_NODE, (message) => this.onMessage(message));
    messages.heard$.subscribe((message) => this.onMessage(message));
  }

  protected async sweep(): Promise<void> {
    for (const { workspaceId, userId } of this.clients.users()) {
      if (!(await this.workspaces.isMember(workspaceId, userId))) this.closeAll(workspaceId, userId);
    }
  }

  private onMessage(message: BusMessage): void {
    switch (message.type) {
      case 'member_removed':
        return this.closeAll(message.workspaceId, message.userId);
      case 'login_ended':
        return this.connections.endLogin(message.loginId);
      case 'client_connected': {
        const client = this.clients.find(message);
        if (client && isNewer(message, client)) client.line.replaced();
      }
    }
  }

  private closeAll(workspaceId: string, userId: string): void {
    for (const client of this.clients.ofUser(workspaceId, userId)) client.line.close();
  }
}
