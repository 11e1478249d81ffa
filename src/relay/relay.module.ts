import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { EventsModule } from '../events/events.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/engine/turns.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { CallEvents } from './call-events.js';
import { ConnectionEnds } from './connection-ends.js';
import { EventAnswers } from './event-answers.js';
import { Handshake } from './handshake.js';
import { ConnectionBounds } from './connection-bounds.js';
import { RelayConnections } from './relay-connections.js';
import { RelayGateway } from './relay.gateway.js';
import { SessionOpenings } from './session-openings.js';
import { SocketQuota } from './socket-quota.js';

@Module({
  imports: [
    AccessModule,
    AuthModule,
    EventsModule,
    ClientsModule,
    SessionsModule,
    LimitsModule,
    ToolsModule,
    TurnsModule,
    WorkspacesModule,
  ],
  providers: [
    CallEvents,
    ConnectionEnds,
    EventAnswers,
    Handshake,
    RelayConnections,
    RelayGateway,
    ConnectionBounds,
    SessionOpenings,
    SocketQuota,
  ],
})
export class RelayModule {}
