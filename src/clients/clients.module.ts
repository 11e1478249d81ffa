import { Module } from '@nestjs/common';
import { ConnectedClients } from './connected-clients.js';

@Module({ providers: [ConnectedClients], exports: [ConnectedClients] })
export class ClientsModule {}
