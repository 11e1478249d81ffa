import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { EventsModule } from '../events/events.module.js';
import { AccessRecheck } from './access-recheck.js';
import { MembersController } from './members.controller.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  imports: [AccessModule, AuthModule, EventsModule],
  controllers: [WorkspacesController, MembersController],
  providers: [AccessRecheck, WorkspacesService],
  exports: [AccessRecheck, WorkspacesService],
})
export class WorkspacesModule {}
