import { Injectable } from '@nestjs/common';
import { type JsonObject, ls } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { nameOf, readCloudPath } from '../files/cloud-path.js';
import { FilesService } from '../files/files.service.js';
import type { ListedEntry } from '../storage/ports/files.store.js';
import type { ServerTool, ToolContext } from './server-tool.js';

@Injectable()
export class LsTool implements ServerTool {
  readonly contract = ls;
  readonly pathArguments = ['path'];

  constructor(private readonly files: FilesService) {}

  /** Lists a folder, sorted by code point of the path. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const { path, recursive } = args as { path?: string | null; recursive?: boolean | null };
    const folder = await this.files.requireFolder(workspaceId, readCloudPath(path ?? '/'));
    if (recursive !== true) {
      return {
        path: folder.path,
        entries: (await this.files.childrenOf(workspaceId, folder)).map(entryView),
      };
    }
    const entries = await this.files.below(workspaceId, folder);
    return { path: folder.path, entries: entries.sort(byCodePoint).map(entryView) };
  }
}

function entryView({ kind, path, updatedAt }: ListedEntry): JsonObject {
  const file_type = kind === 'folder' ? 'Folder' : 'Document';
  return { name: nameOf(path), path, file_type, updated_at: isoTime(updatedAt) };
}

/** UTF-16 puts what is beyond the basic plane before U+E000; by code point it comes last. */
function byCodePoint({ path: a }: ListedEntry, { path: b }: ListedEntry): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
