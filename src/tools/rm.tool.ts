import { Injectable } from '@nestjs/common';
import { type JsonObject, type ToolContract, writePatch } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import { FileWrites } from '../files/file-writes.js';
import { cloudPath, objectSchema, PATH_RULES, TEXT, UUID } from './schema-parts.js';
import { type ServerTool, toolChange, type ToolContext } from './tool.js';

const contract: ToolContract = {
  name: 'rm',
  description:
    'Delete a Cloud file, or an empty Cloud folder. The file’s versions are kept, and a person can restore it.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema({ path: cloudPath('Path of the file, or of an empty folder.') }),
  responseSchema: objectSchema({ path: TEXT, file_id: UUID }),
  guidance: `# rm

Deletes one Cloud file or one empty folder.

- Delete only what the user asked you to delete, or what you created in this conversation.
- A folder with content gives CONFLICT: first delete its files one by one, if the user wants that.
- To rename a file use mv: a file that is deleted and written again loses its history.
- ${PATH_RULES}`,
};

/** `rm`: deletes a Cloud file, or an empty folder. */
@Injectable()
export class RmTool implements ServerTool {
  readonly contract = contract;
  readonly order = 50;
  readonly pathArguments = ['path'];
  readonly changesCloud = {
    paths: this.pathArguments,
    instead: `to empty a file call ${writePatch.name}; to delete one, ask the user`,
  };

  constructor(private readonly writes: FileWrites) {}

  /** Deletes a file or an empty folder. */
  async execute({ path }: JsonObject, context: ToolContext): Promise<JsonObject> {
    const removed = await this.writes.remove(toolChange(this, context), readCloudPath(path as string));
    return { path: removed.path, file_id: removed.id };
  }
}
