import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../common/pino-logger.js';
import { Bus } from '../events/bus.js';
import type { BusMessage } from '../events/messages.js';
import { EVERY_NODE } from '../events/channels.js';
import { Sweep } from '../common/sweep.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Memberships } from '../access/memberships.js';
import { AuthService } from '../auth/auth.service.js';
import { Config } from '../config/config.js';
import { ClientMessages } from '../clients/client-messages.js';
import { ConnectedClients, isNewer } from '../clients/connected-clients.js';
import type { Membership } from '../storage/ports/turn.js';
import { RelayConnections } from './relay-connections.js';

/** A sweep reads one row per connected user, so it runs less often than others. */
const INTERVAL_FACTOR = 3;
/** Longest time between two sweeps, ms: connections end within 5 s of their login or membership [REQ-8] [MEMBER-2]. */
const LONGEST_MS = 3_000;
/** Logins or members per query. */
const BATCH = 500;

/**
 * Ends connections when their login or membership ended, or their client reconnected elsewhere. The bus reports it at
 * once; a store sweep covers lost messages, since an idle connection makes no request.
 */
@Injectable()
export class ConnectionEnds extends Sweep {
  constructor(
    private readonly clients: ConnectedClients,
    private readonly connections: RelayConnections,
    private readonly memberships: Memberships,
    private readonly auth: AuthService,
    bus: Bus,
    messages: ClientMessages,
    { catchUpMs }: Config,
    logger: PinoLogger,
  ) {
    super(Math.min(INTERVAL_FACTOR * catchUpMs, LONGEST_MS), logger);
    bus.subscribe(EVERY_NODE, (message) => this.onMessage(message));
    messages.received$.subscribe((message) => this.onMessage(message));
  }

  protected async sweep(): Promise<void> {
    for (const loginIds of batches(this.connections.logins())) {
      this.connections.endLogins(await this.auth.endedLogins(loginIds));
      await yieldIfBusy();
    }
    for (const members of batches(this.clients.users())) {
      await Promise.all(members.map((member) => this.closeRemoved(member)));
      await yieldIfBusy();
    }
  }

  private async closeRemoved(member: Membership): Promise<void> {
    if (!(await this.memberships.isMember(member))) this.closeAll(member.workspaceId, member.userId);
  }

  private onMessage(message: BusMessage): void {
    switch (message.type) {
      case 'member_removed':
        return this.closeAll(message.workspaceId, message.userId);
      case 'login_ended':
        return this.connections.endLogins(new Set([message.loginId]));
      case 'client_connected': {
        const client = this.clients.find(message);
        if (client && isNewer(message, client)) client.channel.replaced();
      }
    }
  }

  private closeAll(workspaceId: string, userId: string): void {
    for (const client of this.clients.ofUser(workspaceId, userId)) client.channel.close();
  }
}

function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let at = 0; at < items.length; at += BATCH) yield items.slice(at, at + BATCH);
}
