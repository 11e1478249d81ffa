import { Injectable } from '@nestjs/common';
import { type JsonObject, mkdir } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import { FileWrites } from '../files/file-writes.js';
import { type ServerTool, toolChange, type ToolContext } from './server-tool.js';

@Injectable()
export class MkdirTool implements ServerTool {
  readonly contract = mkdir;
  readonly pathArguments = ['path'];

  constructor(private readonly writes: FileWrites) {}

  /** Makes a folder and those above it. */
  async execute({ path }: JsonObject, context: ToolContext): Promise<JsonObject> {
    const origin = toolChange(mkdir.name, context);
    const { folder, created } = await this.writes.makeFolder(origin, readCloudPath(path as string));
    return { path: folder.path, fileId: folder.id, created };
  }
}
