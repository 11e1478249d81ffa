import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CatalogModule } from '../tools/catalog/catalog.module.js';
import { TurnsModule } from '../turns/engine/turns.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { OpenTurnList } from './open-turn-list.js';
import { OpenTurnsController } from './open-turns.controller.js';
import { RevertsController } from './reverts.controller.js';
import { RevertsService } from './reverts.service.js';
import { SessionsController } from './sessions.controller.js';
import { ToolCallsController } from './tool-calls.controller.js';
import { ToolCallsService } from './tool-calls.service.js';
import { TurnAnswers } from './turn-answers.js';
import { TurnsController } from './turns.controller.js';

/** HTTP API for an agent's orchestrator: sessions, turns, single calls, reverts. */
@Module({
  imports: [
    AccessModule,
    CatalogModule,
    JobsModule,
    LimitsModule,
    PatchesModule,
    SessionsModule,
    TurnsModule,
    WorkspacesModule,
  ],
  controllers: [
    OpenTurnsController,
    RevertsController,
    SessionsController,
    ToolCallsController,
    TurnsController,
  ],
  providers: [OpenTurnList, RevertsService, ToolCallsService, TurnAnswers],
})
export class AgentApiModule {}
