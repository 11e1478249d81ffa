import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { ConnectedClients } from './connected-clients.js';
import { Presence } from './presence.js';
import { RootsController } from './roots.controller.js';
import { RootsService } from './roots.service.js';

/** The clients of users: those that are connected to this node, those that are known, and the folders that they have. */
@Module({
  imports: [StorageModule],
  controllers: [RootsController],
  providers: [ConnectedClients, Presence, RootsService],
  exports: [ConnectedClients, Presence, RootsService],
})
export class ClientsModule {}
