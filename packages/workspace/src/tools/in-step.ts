import type { WorkspaceContext } from '../disk/workspace-context.js';

/**
 * Writes into the folder, in step with what is sent of it otherwise: the disk's text goes to the Cloud first, so that
 * what the call makes of it has a version to be compared with, and a base. Nothing else sends the files meanwhile. A call
 * that ends before it is its turn writes nothing: the signal's reason is thrown.
 */
export async function inStep<T>(
  { ledger }: WorkspaceContext,
  docPaths: readonly string[],
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  if (!ledger) return write();
  await ledger.bringUp(docPaths);
  return ledger.writing(docPaths, write, signal);
}
