import { Injectable } from '@nestjs/common';
import { type JsonObject, listFiles } from '@patchbay/protocol';
import { FileListing } from '../files/file-listing.js';
import type { ServerTool, ToolContext } from './server-tool.js';

const DEFAULT_LIMIT = 200;

@Injectable()
export class ListFilesTool implements ServerTool {
  readonly contract = listFiles;

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
