import { Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { ClientsModule } from '../clients/clients.module.js';
import { FilesModule } from '../files/files.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { BuiltInTools } from './built-in-tools.js';
import { ClientOffers } from './custom/client-offers.js';
import { CustomTools } from './custom/custom-tools.js';
import { FileSearch } from './file-search.js';
import { NewestTexts } from './newest-text.js';
import { SessionTexts } from './session-texts.js';
import { findToolClasses } from './tool-classes.js';
import type { ToolDefinition } from './tool.js';
import { ToolRunner } from './tool-runner.js';

// Nest reads a module's providers when its class is defined, so they are loaded before.
const TOOL_CLASSES = await findToolClasses();

@Module({
  imports: [ClientsModule, FilesModule, PatchesModule, SessionsModule, JobsModule],
  providers: [
    FileSearch,
    NewestTexts,
    SessionTexts,
    ClientOffers,
    CustomTools,
    ...TOOL_CLASSES,
    {
      provide: BuiltInTools,
      inject: TOOL_CLASSES,
      useFactory: (...tools: ToolDefinition[]) => new BuiltInTools(tools),
    },
    {
      provide: ToolRunner,
      inject: [Config, BuiltInTools],
      useFactory: (
        { maxUserServerCalls, maxUserOpenTurns, maxUserWaiting }: Config,
        { ofServer }: BuiltInTools,
      ) => new ToolRunner(ofServer, maxUserServerCalls, maxUserOpenTurns + maxUserWaiting),
    },
  ],
  exports: [BuiltInTools, ClientOffers, CustomTools, SessionTexts, ToolRunner],
})
export class ToolsModule {}
