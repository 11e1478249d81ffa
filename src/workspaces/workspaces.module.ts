import { Module } from '@nestjs/common';
import { BusModule } from '../bus/bus.module.js';
import { LastingAccess } from './lasting-access.js';
import { MembersController } from './members.controller.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  imports: [BusModule],
  controllers: [WorkspacesController, MembersController],
  providers: [LastingAccess, WorkspacesService],
  exports: [LastingAccess, WorkspacesService],
})
export class WorkspacesModule {}
