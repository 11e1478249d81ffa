import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import type { ServerTool } from './server-tool.js';
import { findToolClasses } from './tool-classes.js';
import { ToolRunner } from './tool-runner.js';

// Nest reads a module's providers when its class is defined, so they are found before that.
const TOOL_CLASSES = await findToolClasses();

@Module({
  imports: [FilesModule, PatchesModule, SessionsModule],
  providers: [
    ...TOOL_CLASSES,
    {
      provide: ToolRunner,
      inject: TOOL_CLASSES,
      useFactory: (...tools: ServerTool[]) => new ToolRunner(tools),
    },
  ],
  exports: [ToolRunner],
})
export class ToolsModule {}
