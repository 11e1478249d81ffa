import { yieldIfBusy } from '../common/yield-if-busy.js';
import type { FileRecord, FileStore, FileVersion } from '../storage/ports/files.store.js';

const VERSIONS_AT_ONCE = 50;

/**
 * The newest version that was the head, passes the filter and is older than the given number; null if there is none.
 * Conflicting uploads never were the head.
 */
export async function formerHead(
  store: FileStore,
  { workspaceId, id }: FileRecord,
  before: number | null,
  fits: (version: FileVersion) => boolean = () => true,
): Promise<FileVersion | null> {
  for (;;) {
    await yieldIfBusy();
    const versions = await store.versionsOf(workspaceId, id, before, VERSIONS_AT_ONCE);
    const head = versions.find((version) => !version.conflict && fits(version));
    if (head !== undefined) return head;
    if (versions.length < VERSIONS_AT_ONCE) return null;
    before = versions.at(-1)!.number;
  }
}
