import { randomBytes } from 'node:crypto';
import { StagedFile } from '../workspace/atomic-write.js';
import { hashFile, statFile } from '../workspace/file-entry.js';
import { realFileSystem as fs } from '../workspace/file-system.js';
import { ensureDirectory, openDirectory, type SafeDirectory } from '../workspace/safe-directory.js';
import { WorkspaceFault } from '../workspace/workspace-fault.js';

/** The file is no longer what was decided about. */
export class ChangedMeanwhile extends Error {}

/** A name for a temp file by which the next pull of the folder knows it; `key` has 8 hex digits. */
export function pullTempName(key: string): string {
  return `.patchbay-pull-${key}-${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * Puts bytes in the place of a file whose sha256 is `replaces`, or with null where there is none, in one step.
 * @throws ChangedMeanwhile, WorkspaceFault
 */
export async function placeFile(
  root: string,
  segments: readonly string[],
  file: { bytes: Uint8Array; replaces: string | null; tempName: string },
): Promise<void> {
  const name = segments.at(-1)!;
  const walked = await ensureDirectory(fs, root, segments.slice(0, -1));
  try {
    const { directory } = walked;
    await expectStill(directory, name, file.replaces);
    const replaces = await statFile(fs, directory, name);
    const { tempName, bytes } = file;
    const staged = await StagedFile.stage(fs, directory, { name, tempName, bytes, replaces });
    try {
      // Staging waits for the disk, which is long enough for an editor to save.
      if (replaces) await expectStill(directory, name, file.replaces);
      await staged.commit();
    } finally {
      await staged.discard();
    }
  } catch (error) {
    await walked.undo();
    throw error instanceof WorkspaceFault && error.code === 'FileExists' ? new ChangedMeanwhile() : error;
  } finally {
    await walked.close();
  }
}

/**
 * Deletes a file whose sha256 is still this.
 * @throws ChangedMeanwhile, WorkspaceFault
 */
export async function deleteFile(root: string, segments: readonly string[], sha256: string): Promise<void> {
  const name = segments.at(-1)!;
  const directory = await openDirectory(fs, root, segments.slice(0, -1));
  if (directory === null) throw new ChangedMeanwhile();
  try {
    await expectStill(directory, name, sha256);
    await directory.verify();
    await fs.unlink(directory.entry(name));
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function expectStill(directory: SafeDirectory, name: string, sha256: string | null): Promise<void> {
  const now = await hashFile(fs, directory, name);
  if ((now?.sha256 ?? null) !== sha256) throw new ChangedMeanwhile();
}
