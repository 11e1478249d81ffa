import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { Handshake } from './handshake.js';
import { RelayConnections } from './relay-connections.js';
import { RelayGateway } from './relay.gateway.js';

@Module({
  imports: [AuthModule, ClientsModule, TurnsModule, WorkspacesModule],
  providers: [Handshake, RelayConnections, RelayGateway],
})
export class RelayModule {}
