import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { KeySweep } from './key-sweep.js';
import { Recovery } from './recovery.js';
import { ServerCalls } from './server-calls.js';
import { TurnAcceptance } from './turn-acceptance.js';
import { TurnBuilder } from './turn-builder.js';
import { TurnRequestCheck } from './turn-request-check.js';
import { TurnsController } from './turns.controller.js';
import { TurnsService } from './turns.service.js';

/** Turns over HTTP: taken, run where the server runs them, waited for, answered. */
@Module({
  imports: [
    CatalogModule,
    ClientsModule,
    DeliveryModule,
    PatchesModule,
    SessionsModule,
    StorageModule,
    ToolsModule,
    TurnsModule,
    WorkspacesModule,
  ],
  controllers: [TurnsController],
  providers: [KeySweep, Recovery, ServerCalls, TurnAcceptance, TurnBuilder, TurnRequestCheck, TurnsService],
  exports: [TurnsService],
})
export class TurnApiModule {}
