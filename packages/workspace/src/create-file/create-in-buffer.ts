import { sha256 } from '@patchbay/protocol/hash';

import { statFile } from '../disk/file-entry.js';
import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { openDirectory } from '../disk/open-directory.js';
import { fileExists, WorkspaceFault } from '../disk/workspace-fault.js';
import { docPathOf } from '../disk/located-path.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import type { OpenBuffers } from '../write-patch/open-buffers.js';
import { type CreateFilePlan, FileChangedSinceApproval } from './create-file-plan.js';

/** The unsaved text of an open file, as it would be saved. */
export interface DirtyBuffer {
  bytes: Buffer;
  /** Of `bytes`. */
  sha256: string;
}

/**
 * Returns the unsaved text of a file; null if it has no unsaved changes.
 * @throws WorkspaceFault FileExists without overwrite; DIRTY_BUFFER if the editor cannot replace the text; InvalidPath
 */
export async function dirtyBuffer(
  { buffers, fs = realFileSystem }: PatchContext,
  { located, folder, name, overwrite }: CreateFilePlan,
): Promise<DirtyBuffer | null> {
  const docPath = docPathOf(located);
  if (!(await buffers?.isDirty(docPath))) return null;
  await refuseLinks(fs, located.root.directory, folder, name);
  if (!overwrite) throw fileExists();
  const buffer = buffers?.apply && (await buffers.read?.(docPath));
  if (!buffer) {
    throw new WorkspaceFault(
      'DIRTY_BUFFER',
      'The file is open in the editor with changes that are not saved; nothing was written. Ask the user to save it, then call again.',
    );
  }
  const bytes = Buffer.from(buffer.bytes);
  return { bytes, sha256: sha256(bytes) };
}

/** The editor must not reach files that the disk checks reject. */
async function refuseLinks(
  fs: FileSystem,
  root: string,
  folder: readonly string[],
  name: string,
): Promise<void> {
  const directory = await openDirectory(fs, root, folder);
  try {
    if (directory) await statFile(fs, directory, name);
  } finally {
    await directory?.close();
  }
}

/**
 * Replaces the text of an open buffer, without saving it, if it still is the text that was approved.
 * @throws WorkspaceFault FileExists if the buffer has other text; WriteFailed if the editor rejects the change
 */
export async function replaceBuffer(
  buffers: OpenBuffers,
  { located, bytes }: CreateFilePlan,
  before: DirtyBuffer,
  seen: string | null | undefined,
): Promise<void> {
  const docPath = docPathOf(located);
  if (before.bytes.equals(bytes)) return;
  if (seen !== undefined && seen !== before.sha256) throw new FileChangedSinceApproval();
  if (await buffers.apply!(docPath, before.sha256, bytes)) return;
  const now = await buffers.read!(docPath);
  if (now && sha256(now.bytes) === before.sha256)
    throw new WorkspaceFault('WriteFailed', 'The editor did not take the new text; nothing was changed.');
  throw new FileChangedSinceApproval();
}
