import type { Json } from '@patchbay/protocol';
import { pathFields } from '../common/audit-path.js';
import type { FileRecord, FileVersion } from '../storage/ports/files.store.js';

/** What an audit event records about a file and one of its versions, by default the head. */
export function fileFields(
  { path, id, head }: FileRecord,
  version: FileVersion = head,
): { [name: string]: Json } {
  const { id: versionId, sha256, sizeBytes } = version;
  return { ...pathFields(path), fileId: id, versionId, sha256, sizeBytes };
}

/** The same for a file that was at `from`; `fromDisplayPath` is its spelling, if that differs. */
export function movedFields(file: FileRecord, from: string): { [name: string]: Json } {
  const { path: fromPath, displayPath } = pathFields(from);
  return {
    ...fileFields(file),
    fromPath,
    ...(displayPath !== undefined && { fromDisplayPath: displayPath }),
  };
}

/** The mode of a version in answers; absent if no client has set it. */
export function executable({ isExecutable }: Pick<FileVersion, 'isExecutable'>): { isExecutable?: boolean } {
  return isExecutable === null ? {} : { isExecutable };
}
