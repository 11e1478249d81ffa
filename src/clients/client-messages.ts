import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Bus } from '../events/bus.js';
import type { BusMessage } from '../events/messages.js';
import { userChannel, workspaceChannel } from '../events/channels.js';
import { FollowedChannels } from '../events/followed-channels.js';
import { ConnectedClients } from './connected-clients.js';

/** Bus messages for the users and workspaces that have a client on this node. */
@Injectable()
export class ClientMessages {
  readonly received$ = new Subject<BusMessage>();

  constructor(bus: Bus, clients: ConnectedClients) {
    const channels = new FollowedChannels(bus, (message) => this.received$.next(message));
    clients.joined$.subscribe((key) => {
      channels.follow(userChannel(key));
      channels.follow(workspaceChannel(key.workspaceId));
    });
    clients.left$.subscribe((key) => {
      channels.unfollow(userChannel(key));
      channels.unfollow(workspaceChannel(key.workspaceId));
    });
  }
}
