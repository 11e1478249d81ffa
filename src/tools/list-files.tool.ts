import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { FileListing } from '../files/file-listing.js';
import { COUNT, objectSchema, SHA256, TEXT, TIME } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';

const DEFAULT_LIMIT = 200;

const contract: ToolContract = {
  name: 'workspace_list_files',
  description:
    'List the workspace’s Cloud files whose docPath begins with a prefix, with sha256, size and time of last change, page by page.',
  category: 'workspace',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      prefix: {
        type: ['string', 'null'],
        maxLength: 1024,
        description: 'Prefix of the docPath; default: all files.',
      },
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 1000,
        default: DEFAULT_LIMIT,
        description: 'Maximum number of files per page.',
      },
      cursor: { type: ['string', 'null'], description: 'nextCursor of the previous page.' },
    },
    [],
  ),
  responseSchema: objectSchema({
    files: {
      type: 'array',
      items: objectSchema({ docPath: TEXT, path: TEXT, sha256: SHA256, sizeBytes: COUNT, updatedAt: TIME }),
    },
    nextCursor: { type: ['string', 'null'] },
  }),
  guidance: `# workspace_list_files

Lists the Cloud files with their versions.

- The directory snapshot in your context is usually enough; list when it is truncated or old.
- Give the narrowest \`prefix\` you can, such as \`myrepo/src/orders/\`. For names anywhere use glob.
- Continue with \`cursor\` only as far as you need.`,
};

/** `workspace_list_files`: Cloud files by docPath prefix. */
@Injectable()
export class ListFilesTool implements ServerTool {
  readonly contract = contract;
  readonly order = 110;

  constructor(private readonly listing: FileListing) {}

  /** A page of Cloud files by docPath. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const { prefix, limit, cursor } = args as { prefix?: string; limit?: number; cursor?: string };
    const page = await this.listing.page(workspaceId, {
      ...{ prefix: prefix ?? '', limit: limit ?? DEFAULT_LIMIT, cursor: cursor ?? undefined, deleted: false },
    });
    const files = page.files.map(({ docPath, path, sha256, sizeBytes, updatedAt }) => {
      return { docPath, path, sha256, sizeBytes, updatedAt };
    });
    return { files, nextCursor: page.nextCursor };
  }
}
