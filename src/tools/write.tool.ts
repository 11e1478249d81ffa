import { Injectable } from '@nestjs/common';
import { createFile, type JsonObject, type ToolContract, writePatch } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import { contentFault, shapeContent } from '../files/content-shape.js';
import { FileWrites } from '../files/file-writes.js';
import { cloudPath, objectSchema, PATH_RULES, TEXT, UUID } from './schema-parts.js';
import { type ServerTool, toolChange, type ToolContext } from './tool.js';
import type { SchemaFault } from './tool-schemas.js';

const contract: ToolContract = {
  name: 'write',
  description:
    'Store a whole Cloud file: a new one, with the folders it needs, or a new version of an existing one. ' +
    'content is {"text": …} or a string for a text file, or any other JSON value, which read gives back as it is. ' +
    'Older versions are kept.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema({
    path: cloudPath('Path of the file.'),
    content: {
      description: 'The complete content: {"text": "…"} or a string for text, else any JSON value.',
    },
  }),
  responseSchema: objectSchema({ path: TEXT, file_id: UUID, version_id: UUID }),
  guidance: `# write

Stores a complete file among the workspace's Cloud files. It does not touch the user's machine: that is what workspace_create_file and workspace_write_patch are for.

- \`content\` replaces the whole file; nothing is merged.
- To change a part of a text file use edit: it fails where the file is not what you think it is.
- Every write is a version of its own, so nothing is lost; do not make backup copies.
- ${PATH_RULES}
- Missing folders are created. The path of a folder is an error; a path below a file gives CONFLICT.`,
};

/** `write`: stores a whole Cloud file. */
@Injectable()
export class WriteTool implements ServerTool {
  readonly contract = contract;
  readonly order = 30;
  readonly pathArguments = ['path'];
  readonly changesCloud = {
    paths: this.pathArguments,
    instead: `call ${createFile.name} for a whole file, ${writePatch.name} for a part of one`,
  };

  constructor(private readonly writes: FileWrites) {}

  /** Content that storage would alter is refused. */
  faultsOf(args: JsonObject): SchemaFault[] {
    const fault = contentFault(args, 'content');
    return fault === null ? [] : [{ path: '/content', code: 'content', message: fault }];
  }

  /** Stores a new file, or a new version of one. */
  async execute({ path, content }: JsonObject, context: ToolContext): Promise<JsonObject> {
    const target = readCloudPath(path as string);
    const { file } = await this.writes.write(toolChange(this, context), target, shapeContent(content!));
    return { path: file.path, file_id: file.id, version_id: file.head.id };
  }
}
