import type { Type } from '@nestjs/common';
import { CodeHashTool } from './code-hash.tool.js';
import { EditTool } from './edit.tool.js';
import { GetPatchChangeTool } from './get-patch-change.tool.js';
import { GlobTool } from './glob.tool.js';
import { GrepTool } from './grep.tool.js';
import { ListActiveFilesTool } from './list-active-files.tool.js';
import { ListFilesTool } from './list-files.tool.js';
import { LsTool } from './ls.tool.js';
import { MkdirTool } from './mkdir.tool.js';
import { MvTool } from './mv.tool.js';
import { ReadFileTool } from './read-file.tool.js';
import { ReadTool } from './read.tool.js';
import { RmTool } from './rm.tool.js';
import type { ServerTool } from './server-tool.js';
import { WriteTool } from './write.tool.js';

/** Every server tool, in the order of the catalog. A new tool is its own file and one line here. */
export const SERVER_TOOLS: readonly Type<ServerTool>[] = [
  LsTool,
  ReadTool,
  WriteTool,
  EditTool,
  RmTool,
  MvTool,
  MkdirTool,
  GlobTool,
  GrepTool,
  ReadFileTool,
  ListFilesTool,
  ListActiveFilesTool,
  CodeHashTool,
  GetPatchChangeTool,
];

/** The server tools of this process, ready to run. */
export class ToolRegistry {
  constructor(readonly tools: readonly ServerTool[]) {}
}
