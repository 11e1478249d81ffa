import { Module } from '@nestjs/common';
import { ClientFiles } from './client-files.js';
import { ConnectedClients } from './connected-clients.js';

/** The clients that are connected to this node, and the files that they hold. */
@Module({ providers: [ClientFiles, ConnectedClients], exports: [ClientFiles, ConnectedClients] })
export class ClientsModule {}
