import type { Json } from '@patchbay/protocol';
import { pathFields } from '../common/audit-path.js';
import type { FileRecord, FileVersion } from '../storage/ports/files.store.js';

/** What an audit event says of a file and one of its versions, the head unless another is meant. */
export function fileFields(
  { path, id, head }: FileRecord,
  version: FileVersion = head,
): { [name: string]: Json } {
  const { id: versionId, sha256, sizeBytes } = version;
  return { ...pathFields(path), fileId: id, versionId, sha256, sizeBytes };
}

/** The same of a file that had the path `from`; `fromDisplayPath` is how that was spelled, where that is not its form. */
export function movedFields(file: FileRecord, from: string): { [name: string]: Json } {
  const { path: fromPath, displayPath } = pathFields(from);
  return {
    ...fileFields(file),
    fromPath,
    ...(displayPath !== undefined && { fromDisplayPath: displayPath }),
  };
}

/** What answers say of a version's mode: nothing where no client has. */
export function executable({ isExecutable }: Pick<FileVersion, 'isExecutable'>): { isExecutable?: boolean } {
  return isExecutable === null ? {} : { isExecutable };
}
