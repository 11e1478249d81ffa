import { Injectable } from '@nestjs/common';
import { createFile, type JsonObject, type ToolContract } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import { FileWrites } from '../files/file-writes.js';
import { cloudPath, objectSchema, PATH_RULES, TEXT, UUID } from './schema-parts.js';
import { type ServerTool, toolChange, type ToolContext } from './tool.js';

const contract: ToolContract = {
  name: 'mkdir',
  description: 'Create a Cloud folder and its parents. An existing folder stays unchanged.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema({ path: cloudPath('Path of the folder.') }),
  responseSchema: objectSchema({ path: TEXT, fileId: UUID, created: { type: 'boolean' } }),
  guidance: `# mkdir

Creates a Cloud folder. You rarely need it: write creates the folders of a new file. Use it if a folder has to exist while it is empty.

- ${PATH_RULES}`,
};

/** `mkdir`: creates a Cloud folder. */
@Injectable()
export class MkdirTool implements ServerTool {
  readonly contract = contract;
  readonly order = 70;
  readonly pathArguments = ['path'];
  readonly changesCloud = {
    paths: this.pathArguments,
    instead: `call ${createFile.name}, which creates the folders that its file needs`,
  };

  constructor(private readonly writes: FileWrites) {}

  /** Creates a folder and its parents. */
  async execute({ path }: JsonObject, context: ToolContext): Promise<JsonObject> {
    const origin = toolChange(this, context);
    const { folder, created } = await this.writes.makeFolder(origin, readCloudPath(path as string));
    return { path: folder.path, fileId: folder.id, created };
  }
}
