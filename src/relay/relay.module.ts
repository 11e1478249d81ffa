import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { FilesModule } from '../files/files.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { FileUploads } from './file-uploads.js';
import { Handshake } from './handshake.js';
import { RelayConnections } from './relay-connections.js';
import { RelayGateway } from './relay.gateway.js';

@Module({
  imports: [
    AuthModule,
    ClientsModule,
    FilesModule,
    PatchesModule,
    SessionsModule,
    TurnsModule,
    WorkspacesModule,
  ],
  providers: [FileUploads, Handshake, RelayConnections, RelayGateway],
})
export class RelayModule {}
