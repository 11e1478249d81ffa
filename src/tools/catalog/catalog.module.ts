import { Module } from '@nestjs/common';
import { SessionsModule } from '../../sessions/sessions.module.js';
import { ToolsModule } from '../tools.module.js';
import { CatalogController } from './catalog.controller.js';
import { CatalogService } from './catalog.service.js';

@Module({
  imports: [SessionsModule, ToolsModule],
  controllers: [CatalogController],
  providers: [CatalogService],
  exports: [CatalogService],
})
export class CatalogModule {}
