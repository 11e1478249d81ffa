import { Module } from '@nestjs/common';
import { ConnectedClients } from './connected-clients.js';

/** The clients that are connected to this node. */
@Module({ providers: [ConnectedClients], exports: [ConnectedClients] })
export class ClientsModule {}
