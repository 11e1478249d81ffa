import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnApiModule } from '../turn-api/turn-api.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ClientCalls } from './client-calls.js';
import { ToolCallsController } from './tool-calls.controller.js';
import { ToolCallsService } from './tool-calls.service.js';

@Module({
  imports: [CatalogModule, ClientsModule, SessionsModule, ToolsModule, TurnApiModule, WorkspacesModule],
  controllers: [ToolCallsController],
  providers: [ClientCalls, ToolCallsService],
})
export class ToolCallsModule {}
