import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { FilesModule } from '../files/files.module.js';
import { ClientFiles } from './client-files.js';
import { ClientMessages } from './client-messages.js';
import { ClientsController } from './clients.controller.js';
import { ConnectedClients } from './connected-clients.js';
import { FileExchange } from './file-exchange.js';
import { FileNotices } from './file-notices.js';
import { NodeFiles } from './node-files.js';
import { Presence } from './presence.js';
import { RootsController } from './roots.controller.js';
import { RootsService } from './roots.service.js';

/** The clients of users, here and elsewhere, with their folders and files. */
@Module({
  imports: [EventsModule, FilesModule],
  controllers: [ClientsController, RootsController],
  providers: [
    ...[ClientFiles, ClientMessages, ConnectedClients, FileExchange, FileNotices, NodeFiles, Presence],
    RootsService,
  ],
  exports: [ClientFiles, ClientMessages, ConnectedClients, Presence, RootsService],
})
export class ClientsModule {}
