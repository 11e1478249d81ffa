import type { Json } from '@patchbay/protocol';
import type { FileRecord, FileVersion } from '../storage/ports/files.store.js';

/** What an audit event says of a file and one of its versions, the head unless another is meant. */
export function fileFields(
  { path, docPath, id, head }: FileRecord,
  version: FileVersion = head,
): { [name: string]: Json } {
  const { id: versionId, sha256, sizeBytes } = version;
  return { path, docPath, fileId: id, versionId, sha256, sizeBytes };
}
