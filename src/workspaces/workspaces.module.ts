import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { EventsModule } from '../events/events.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { AccessCheck } from './access-check.js';
import { MembersController } from './members.controller.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  imports: [AccessModule, AuthModule, EventsModule, LimitsModule],
  controllers: [WorkspacesController, MembersController],
  providers: [AccessCheck, WorkspacesService],
  exports: [AccessCheck, WorkspacesService],
})
export class WorkspacesModule {}
