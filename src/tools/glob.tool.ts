import { Injectable } from '@nestjs/common';
import { glob, type JsonObject } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { readCloudPath } from '../files/cloud-path.js';
import { FilesService } from '../files/files.service.js';
import { compileGlob } from './glob-pattern.js';
import { filesIn, relativeTo } from './file-search.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';
import { TimeBudget } from './time-budget.js';

const DEFAULT_LIMIT = 500;
const MAX_MS = 5_000;

@Injectable()
export class GlobTool implements ServerTool {
  readonly contract = glob;
  readonly pathArguments = ['path'];

  constructor(private readonly files: FilesService) {}

  faultsOf({ pattern }: JsonObject): SchemaFault[] {
    return faultsFrom(() => compileGlob(pattern as string, 'pattern'));
  }

  /** Files whose path below the folder fits the pattern, by docPath. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const { pattern, path, limit } = args as { pattern: string; path?: string | null; limit?: number | null };
    const fits = compileGlob(pattern, 'pattern');
    const folder = await this.files.requireFolder(workspaceId, readCloudPath(path ?? '/'));
    const budget = new TimeBudget(MAX_MS);
    const found: JsonObject[] = [];
    for await (const page of filesIn(this.files, workspaceId, folder, pattern)) {
      for (const entry of page) {
        if (!(await budget.left())) return { files: found, isTruncated: true };
        if (!fits(relativeTo(folder, entry))) continue;
        if (found.length === (limit ?? DEFAULT_LIMIT)) return { files: found, isTruncated: true };
        found.push({ path: entry.path, docPath: entry.docPath, updatedAt: isoTime(entry.updatedAt) });
      }
    }
    return { files: found, isTruncated: false };
  }
}
