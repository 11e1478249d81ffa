import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { ToolCallsController } from './tool-calls.controller.js';
import { ToolCallsService } from './tool-calls.service.js';

@Module({
  imports: [SessionsModule, StorageModule, ToolsModule],
  controllers: [ToolCallsController],
  providers: [ToolCallsService],
})
export class ToolCallsModule {}
