import { Module } from '@nestjs/common';
import { CatalogModule } from '../tools/catalog/catalog.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { ActiveTexts } from './active-texts.service.js';
import { ContextController } from './context.controller.js';
import { ContextService } from './context.service.js';
import { ReferencedFiles } from './referenced-files.js';

@Module({
  imports: [CatalogModule, ClientsModule, SessionsModule, ToolsModule, JobsModule],
  controllers: [ContextController],
  providers: [ActiveTexts, ContextService, ReferencedFiles],
})
export class ContextModule {}
