import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import type { ServerTool } from './server-tool.js';
import { SERVER_TOOLS, ToolRegistry } from './tool-registry.js';
import { ToolRunner } from './tool-runner.js';

@Module({
  imports: [FilesModule, PatchesModule, SessionsModule],
  providers: [
    ...SERVER_TOOLS,
    {
      provide: ToolRegistry,
      inject: [...SERVER_TOOLS],
      useFactory: (...tools: ServerTool[]) => new ToolRegistry(tools),
    },
    ToolRunner,
  ],
  exports: [ToolRegistry, ToolRunner],
})
export class ToolsModule {}
