import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { BusModule } from '../bus/bus.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { CatalogModule } from '../catalog/catalog.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { CallAssessment } from './call-assessment.js';
import { Departures } from './departures.js';
import { KeySweep } from './key-sweep.js';
import { OpenTurnsController } from './open-turns.controller.js';
import { OpenTurnList } from './open-turn-list.js';
import { Recovery } from './recovery.js';
import { ServerCalls } from './server-calls.js';
import { TurnAcceptance } from './turn-acceptance.js';
import { TurnAnswers } from './turn-answers.js';
import { TurnBuilder } from './turn-builder.js';
import { TurnRequestCheck } from './turn-request-check.js';
import { TurnsController } from './turns.controller.js';
import { TurnsService } from './turns.service.js';

/** Turns over HTTP: taken, run where the server runs them, waited for, answered. */
@Module({
  imports: [
    AccessModule,
    CatalogModule,
    ClientsModule,
    DeliveryModule,
    PatchesModule,
    SessionsModule,
    ToolsModule,
    TurnsModule,
    WorkspacesModule,
    LimitsModule,
    BusModule,
  ],
  controllers: [OpenTurnsController, TurnsController],
  providers: [
    CallAssessment,
    Departures,
    KeySweep,
    OpenTurnList,
    Recovery,
    ServerCalls,
    TurnAcceptance,
    TurnAnswers,
    TurnBuilder,
    TurnRequestCheck,
    TurnsService,
  ],
  exports: [TurnAnswers, TurnsService],
})
export class TurnApiModule {}
