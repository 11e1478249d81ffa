import { Module } from '@nestjs/common';
import { BusModule } from '../bus/bus.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { ClientFiles } from './client-files.js';
import { ConnectedClients } from './connected-clients.js';
import { FileExchange } from './file-exchange.js';
import { NodeFiles } from './node-files.js';

/** The clients that are connected to this node, and the files that they hold. */
@Module({
  imports: [BusModule, StorageModule],
  providers: [ClientFiles, ConnectedClients, FileExchange, NodeFiles],
  exports: [ClientFiles, ConnectedClients],
})
export class ClientsModule {}
