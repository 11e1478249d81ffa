import { Injectable } from '@nestjs/common';
import { type JsonObject, write } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import { contentFault, shapeContent } from '../files/content-shape.js';
import { FileWrites } from '../files/file-writes.js';
import { type ServerTool, toolChange, type ToolContext } from './server-tool.js';
import type { SchemaFault } from './tool-schemas.js';

@Injectable()
export class WriteTool implements ServerTool {
  readonly contract = write;
  readonly pathArguments = ['path'];

  constructor(private readonly writes: FileWrites) {}

  /** What would not come back as it went in is refused, never changed. */
  faultsOf(args: JsonObject): SchemaFault[] {
    const fault = contentFault(args, 'content');
    return fault === null ? [] : [{ path: '/content', code: 'content', message: fault }];
  }

  /** Stores a new file, or a new version of one. */
  async execute({ path, content }: JsonObject, context: ToolContext): Promise<JsonObject> {
    const target = readCloudPath(path as string);
    const { file } = await this.writes.write(toolChange(write.name, context), target, shapeContent(content!));
    return { path: file.path, file_id: file.id, version_id: file.head.id };
  }
}
