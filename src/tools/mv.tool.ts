import { Injectable } from '@nestjs/common';
import { createFile, type JsonObject, type ToolContract } from '@patchbay/protocol';
import { auditPath, pathFields } from '../common/audit-path.js';
import { readCloudPath } from '../files/cloud-path.js';
import { FileWrites } from '../files/file-writes.js';
import type { CallSubject } from '../storage/ports/turn.js';
import { cloudPath, objectSchema, PATH_RULES, TEXT, UUID } from './schema-parts.js';
import { type ServerTool, toolChange, type ToolContext } from './tool.js';

const contract: ToolContract = {
  name: 'mv',
  description:
    'Move or rename a Cloud file. It keeps its id and its versions; missing folders are created. An existing file at the new path is never replaced.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema({
    from: cloudPath('Path of the file.'),
    to: cloudPath('Its full new path, with the file’s name.'),
  }),
  responseSchema: objectSchema({ from: TEXT, path: TEXT, fileId: UUID }),
  guidance: `# mv

Moves or renames a Cloud file.

- \`to\` is the whole new path, not a folder to put the file into.
- If the new path exists, the call fails with CONFLICT: choose another path, or first delete the existing file if the user wants that.
- Folders are moved by moving their files.
- ${PATH_RULES}`,
};

/** `mv`: moves a Cloud file. */
@Injectable()
export class MvTool implements ServerTool {
  readonly contract = contract;
  readonly order = 60;
  readonly pathArguments = ['from', 'to'];
  readonly changesCloud = {
    paths: this.pathArguments,
    instead: `call ${createFile.name} for the new place, and ask the user to delete the old one`,
  };

  constructor(private readonly writes: FileWrites) {}

  subject({ from, to }: JsonObject): CallSubject {
    return { ...pathFields(to), ...(typeof from === 'string' && { fromPath: auditPath(from) }) };
  }

  /** Moves a file to a free path. */
  async execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
    const [from, to] = [readCloudPath(args.from as string, 'from'), readCloudPath(args.to as string, 'to')];
    const moved = await this.writes.move(toolChange(this, context), from, to);
    return { from: moved.from.path, path: moved.to.path, fileId: moved.to.id };
  }
}
