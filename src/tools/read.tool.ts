import { Injectable } from '@nestjs/common';
import type { ActiveFile, JsonObject, ToolContract } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { contentOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import { NewestTexts } from './newest-text.js';
import { cloudPath, objectSchema, PATH_RULES, TEXT } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';

const contract: ToolContract = {
  name: 'read',
  description:
    'Read the newest version of a Cloud file, whole. Text comes as {"text": …}; ' +
    'a file that was written as another JSON value comes back as that value.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema({ path: cloudPath('Path of the file.') }),
  responseSchema: objectSchema(
    {
      path: TEXT,
      content: { description: 'The content as written; {"text": …} for a file stored as bytes.' },
      warnings: { type: 'array', items: TEXT, description: 'Set if a newer text is open elsewhere.' },
    },
    ['path', 'content'],
  ),
  guidance: `# read

Returns a Cloud file as it was written.

- Read a file before you write or edit it: what you remember of it may be old.
- For a large file, for line numbers, or where you need the sha256 for a patch, use workspace_read_file.
- ${PATH_RULES}
- \`warnings\` says if the user has a different text of the file open: then use workspace_read_file.
- Files that are not UTF-8 text cannot be read with this tool.`,
};

/** `read`: the newest version of a Cloud file, in its written form. */
@Injectable()
export class ReadTool implements ServerTool {
  readonly contract = contract;
  readonly order = 20;
  readonly pathArguments = ['path'];

  constructor(
    private readonly files: FilesService,
    private readonly newest: NewestTexts,
  ) {}

  /** The newest version of a file, in its written form. */
  async execute({ path }: JsonObject, context: ToolContext): Promise<JsonObject> {
    const { workspaceId } = context;
    const file = await this.files.requireFile(workspaceId, readCloudPath(path as string));
    const content = contentOf(file.head.shape, await this.files.bytesOf(workspaceId, file.head));
    if (content === undefined) {
      throw fieldError('path', 'holds bytes that are no UTF-8 text; GET …/contents/<path> gives them raw');
    }
    const active = await this.newest.activeFile(context, file.docPath);
    const isStale = active !== null && active.sha256 !== file.head.sha256;
    return { path: file.path, content, ...(isStale && { warnings: [staleWarning(active)] }) };
  }
}

function staleWarning({ sha256 }: ActiveFile): string {
  return `The file is open in the editor with a different text (sha256 ${sha256}), which takes precedence: read it with workspace_read_file.`;
}
