import { Injectable } from '@nestjs/common';
import { type CloudFile, type CloudFilePage, foldCase, unfoldableFault } from '@patchbay/protocol';
import { isoTime, isoTimeOrNull } from '../common/clock.js';
import { fieldError } from '../common/domain-error.js';
import { isUuid } from '../common/ids.js';
import { executable } from './file-fields.js';
import { type FileCursor, type FileRecord, FileStore } from '../storage/ports/files.store.js';

/** Longest cursor that is read, in characters: a docPath and an id, in JSON and base64. */
const MAX_CURSOR = 16 * 1024;

/** The files that a page lists. */
export interface ListQuery {
  prefix: string;
  deleted: boolean;
  limit: number;
  cursor?: string | undefined;
}

/** Lists Cloud files page by page. */
@Injectable()
export class FileListing {
  constructor(private readonly files: FileStore) {}

  /** Up to `limit` files whose docPath begins with the prefix, by docPath. */
  async page(workspaceId: string, { prefix, deleted, limit, cursor }: ListQuery): Promise<CloudFilePage> {
    const fault = unfoldableFault(prefix);
    if (fault !== null) throw fieldError('prefix', fault);
    if (!isStorable(prefix)) throw fieldError('prefix', 'holds a NUL or a lone surrogate');
    const docPrefix = foldCase(prefix.replace(/^\//, ''));
    const after = cursor === undefined ? null : readCursor(cursor);
    const found = await this.files.page(workspaceId, { docPrefix, deleted }, after, limit + 1);
    const page = found.slice(0, limit);
    return { files: page.map(fileView), nextCursor: found.length > limit ? cursorOf(page.at(-1)!) : null };
  }
}

function fileView({ id, path, docPath, head, updatedAt, deletedAt }: FileRecord): CloudFile {
  return {
    ...{ fileId: id, path, docPath, sha256: head.sha256, sizeBytes: head.sizeBytes, headVersionId: head.id },
    ...executable(head),
    ...{ updatedAt: isoTime(updatedAt), deletedAt: isoTimeOrNull(deletedAt) },
  };
}

function cursorOf({ id, docPath }: FileRecord): string {
  return Buffer.from(JSON.stringify([docPath, id])).toString('base64url');
}

function readCursor(cursor: string): FileCursor {
  if (cursor.length > MAX_CURSOR) throw fieldError('cursor', 'is not a nextCursor of this list');
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(read) && typeof read[0] === 'string' && isStorable(read[0]) && isUuid(read[1])) {
      return { docPath: read[0], id: read[1] };
    }
  } catch {
    // The fault is reported below.
  }
  throw fieldError('cursor', 'is not a nextCursor of this list');
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
