import type { Type } from '@nestjs/common';
import { LsTool } from './ls.tool.js';
import { ReadTool } from './read.tool.js';
import { RmTool } from './rm.tool.js';
import { GetPatchChangeTool } from './get-patch-change.tool.js';
import type { ServerTool } from './server-tool.js';
import { WriteTool } from './write.tool.js';

/** Every server tool, in the order of the catalog. A new tool is its own file and one line here. */
export const SERVER_TOOLS: readonly Type<ServerTool>[] = [
  LsTool,
  ReadTool,
  WriteTool,
  RmTool,
  GetPatchChangeTool,
];

/** The server tools of this process, ready to run. */
export class ToolRegistry {
  constructor(readonly tools: readonly ServerTool[]) {}
}
