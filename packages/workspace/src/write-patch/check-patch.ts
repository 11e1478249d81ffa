import type { FilePatch } from '@patchbay/protocol';

import { type FileContent, readFile } from '../disk/file-entry.js';
import type { FileSystem } from '../disk/file-system.js';
import { openDirectory } from '../disk/open-directory.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import { diskFault, errnoOf } from '../disk/workspace-fault.js';
import type { LocatedPath } from '../disk/located-path.js';
import { notFound, PatchFileFault } from './patch-file-fault.js';
import { type PatchedText, patchText } from './patch-text.js';

const WRITE_BITS = 0o222;

/** An unchanged original file and its patched content. */
export interface PatchedFile extends PatchedText {
  readonly original: FileContent;
}

/**
 * Reads a file, checks its patch and applies it in memory. Changes nothing on disk.
 * @throws PatchFileFault, WorkspaceFault if the file cannot be patched
 */
export async function checkPatch(
  fs: FileSystem,
  located: LocatedPath,
  patch: FilePatch,
  maxFileBytes: number,
): Promise<PatchedFile> {
  const folder = located.segments.slice(0, -1);
  const directory = await openDirectory(fs, located.root.directory, folder);
  if (!directory) throw notFound(patch.docPath);
  try {
    return await checkPatchIn(fs, directory, located.segments.at(-1)!, patch, maxFileBytes);
  } finally {
    await directory.close();
  }
}

/** The same for a file in an open folder. */
export async function checkPatchIn(
  fs: FileSystem,
  directory: SafeDirectory,
  name: string,
  patch: FilePatch,
  maxFileBytes: number,
): Promise<PatchedFile> {
  const original = await readFile(fs, directory, name, maxFileBytes);
  if (!original) throw notFound(patch.docPath);
  await refuseReadOnly(fs, directory, name, original);
  return { ...patchText(original, patch, maxFileBytes), original };
}

/** A rename would replace a read-only file, against the intention of its owner. */
async function refuseReadOnly(
  fs: FileSystem,
  directory: SafeDirectory,
  name: string,
  { mode }: FileContent,
): Promise<void> {
  const readOnly = (cause?: unknown) =>
    new PatchFileFault('WriteFailed', `"${name}" is read-only; nothing was written.`, [], cause);
  // Root may write to any file, so the mode is checked, too.
  if ((mode & WRITE_BITS) === 0) throw readOnly();
  try {
    await fs.accessForWrite(directory.entry(name));
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')) throw readOnly(error);
    throw diskFault('WriteFailed', `"${name}" could not be inspected`, error);
  }
}
