import { Injectable } from '@nestjs/common';
import { type JsonObject, read } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { contentOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import type { ServerTool, ToolContext } from './server-tool.js';

@Injectable()
export class ReadTool implements ServerTool {
  readonly contract = read;
  readonly pathArguments = ['path'];

  constructor(private readonly files: FilesService) {}

  /** The newest version of a file, in the shape in which it was written. */
  async execute({ path }: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const file = await this.files.requireFile(workspaceId, readCloudPath(path as string));
    const content = contentOf(file.head.shape, await this.files.bytesOf(workspaceId, file.head));
    if (content === undefined) {
      throw fieldError('path', 'holds bytes that are no UTF-8 text; GET …/contents/<path> gives them raw');
    }
    return { path: file.path, content };
  }
}
