import { Module } from '@nestjs/common';
import { ClockModule } from '../common/clock.module.js';
import { ConnectedClients } from './connected-clients.js';

@Module({ imports: [ClockModule], providers: [ConnectedClients], exports: [ConnectedClients] })
export class ClientsModule {}
