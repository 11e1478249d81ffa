import { Injectable } from '@nestjs/common';
import { type JsonObject, rm } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import { FileWrites } from '../files/file-writes.js';
import { type ServerTool, toolChange, type ToolContext } from './server-tool.js';

@Injectable()
export class RmTool implements ServerTool {
  readonly contract = rm;
  readonly pathArguments = ['path'];

  constructor(private readonly writes: FileWrites) {}

  /** Deletes a file or an empty folder. */
  async execute({ path }: JsonObject, context: ToolContext): Promise<JsonObject> {
    const removed = await this.writes.remove(toolChange(rm.name, context), readCloudPath(path as string));
    return { path: removed.path, file_id: removed.id };
  }
}
