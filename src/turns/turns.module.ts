import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { DeadlineSweep } from './deadline-sweep.js';
import { Deliveries } from './deliveries.js';
import { Dispatcher } from './dispatcher.js';
import { OpenTurns } from './open-turns.js';
import { ClientReports } from './client-reports.js';
import { Reports } from './reports.js';
import { ServerCalls } from './server-calls.js';
import { SessionClients } from './session-clients.js';
import { TurnAcceptance } from './turn-acceptance.js';
import { TurnBuilder } from './turn-builder.js';
import { TurnWaiters } from './turn-waiters.js';
import { TurnsController } from './turns.controller.js';
import { TurnsService } from './turns.service.js';

@Module({
  imports: [CatalogModule, ClientsModule, PatchesModule, SessionsModule, StorageModule, ToolsModule],
  controllers: [TurnsController],
  providers: [
    ClientReports,
    DeadlineSweep,
    Deliveries,
    Dispatcher,
    OpenTurns,
    Reports,
    ServerCalls,
    SessionClients,
    TurnAcceptance,
    TurnBuilder,
    TurnWaiters,
    TurnsService,
  ],
  exports: [ClientReports, Dispatcher, OpenTurns, TurnsService],
})
export class TurnsModule {}
