import { Module } from '@nestjs/common';
import { BusModule } from '../bus/bus.module.js';
import { FilesModule } from '../files/files.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { ConnectedClients } from './connected-clients.js';
import { FileNotices } from './file-notices.js';
import { Presence } from './presence.js';
import { RootsController } from './roots.controller.js';
import { RootsService } from './roots.service.js';

/** The clients of users: those that are connected to this node, those that are known, and the folders that they have. */
@Module({
  imports: [BusModule, FilesModule, StorageModule],
  controllers: [RootsController],
  providers: [ConnectedClients, FileNotices, Presence, RootsService],
  exports: [ConnectedClients, Presence, RootsService],
})
export class ClientsModule {}
