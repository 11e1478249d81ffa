import { Injectable } from '@nestjs/common';
import { type JsonObject, mv } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import { FileWrites } from '../files/file-writes.js';
import { type ServerTool, toolChange, type ToolContext } from './server-tool.js';

@Injectable()
export class MvTool implements ServerTool {
  readonly contract = mv;
  readonly pathArguments = ['from', 'to'];

  constructor(private readonly writes: FileWrites) {}

  /** Moves a file to a free path. */
  async execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
    const [from, to] = [readCloudPath(args.from as string, 'from'), readCloudPath(args.to as string, 'to')];
    const moved = await this.writes.move(toolChange(mv.name, context), from, to);
    return { from: moved.from.path, path: moved.to.path, fileId: moved.to.id };
  }
}
