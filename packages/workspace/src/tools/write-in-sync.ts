import type { WorkspaceContext } from '../disk/workspace-context.js';

/**
 * Writes into a folder that is synced. The local text is uploaded first, so that the call's change has a base and a
 * version to compare with. Nothing else sends these files meanwhile. Throws the signal's reason if it aborts before
 * the write.
 */
export async function writeInSync<T>(
  { ledger }: WorkspaceContext,
  docPaths: readonly string[],
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  if (!ledger) return write();
  await ledger.uploadChanged(docPaths);
  return ledger.whileWriting(docPaths, write, signal);
}
