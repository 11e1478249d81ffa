import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { StagedFile } from '../disk/atomic-write.js';
import { hashFile, statFile } from '../disk/file-entry.js';
import { ensureDirectory, openDirectory } from '../disk/open-directory.js';
import { keepBeside } from '../disk/keep-beside.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import { diskFault, errnoOf, renameFault, WorkspaceFault } from '../disk/workspace-fault.js';
import { FILES_AT_ONCE, inParallel } from '../disk/in-parallel.js';
import { inlineFileSystem as fs } from './inline-file-system.js';

const MODE_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The file has changed since the decision. */
export class ChangedMeanwhile extends Error {}

/** A file to write. */
export interface Placement {
  name: string;
  bytes: Uint8Array;
  /** sha256 of the existing file; null if there is none. */
  replaces: string | null;
  /** The existing content is in no version, so it is kept under a second name. */
  keep: boolean;
  /** Null keeps the mode of the replaced file. */
  isExecutable: boolean | null;
  tempName: string;
  /** Set if attributes of the replaced file may have been lost. */
  hasLostAttributes?: boolean;
}

/** A temp file name that the next pull of the folder recognizes; `key` has 8 hex digits. */
export function pullTempName(key: string): string {
  return `.patchbay-pull-${key}-${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * Writes files of one folder, each atomically, and creates the folder if it is missing. They are durable when it
 * resolves. Returns the failed files with their errors: ChangedMeanwhile or WorkspaceFault.
 */
export async function placeFiles<T extends Placement>(
  root: string,
  folder: readonly string[],
  files: readonly T[],
): Promise<Map<T, unknown>> {
  const faults = new Map<T, unknown>();
  const walked = await ensureDirectory(fs, root, folder).catch((error: unknown) => {
    for (const file of files) faults.set(file, error);
    return null;
  });
  if (walked === null) return faults;
  const { directory } = walked;
  try {
    await inParallel(files, FILES_AT_ONCE, async (file) => {
      await place(withoutSync(directory), file).catch((error: unknown) => faults.set(file, error));
    });
    if (faults.size < files.length) await directory.sync();
    else await walked.undo();
    return faults;
  } finally {
    await walked.close();
  }
}

/** The folder is synced once for all of its files. */
function withoutSync(directory: SafeDirectory): SafeDirectory {
  return {
    entry: (name) => directory.entry(name),
    child: (name) => directory.child(name),
    verify: () => directory.verify(),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

async function place(directory: SafeDirectory, placement: Placement): Promise<void> {
  const { name, bytes, replaces, keep, isExecutable, tempName } = placement;
  await expectUnchanged(directory, name, replaces);
  const replaced = await statFile(fs, directory, name);
  const staged = await StagedFile.stage(fs, directory, { name, tempName, bytes, replaces: replaced });
  try {
    if (isExecutable !== null && !replaced) await changeMode(directory, tempName, isExecutable);
    // Staging waits for the disk, and an editor may save meanwhile.
    if (replaced) await expectUnchanged(directory, name, replaces);
    if (keep) await keepBeside(fs, directory, name);
    await staged.commit();
    placement.hasLostAttributes = staged.hasLostAttributes;
    // The commit copies the mode of the replaced file.
    if (isExecutable !== null && replaced) await changeMode(directory, name, isExecutable);
  } catch (error) {
    throw error instanceof WorkspaceFault && error.code === 'FileExists' ? new ChangedMeanwhile() : error;
  } finally {
    await staged.discard();
  }
}

/** Sets or clears the executable bit of a file that still has this sha256. @throws ChangedMeanwhile, WorkspaceFault */
export async function setExecutable(
  root: string,
  segments: readonly string[],
  { sha256, isExecutable }: { sha256: string; isExecutable: boolean },
): Promise<void> {
  return withUnchangedFile(root, segments, sha256, (directory, name) =>
    changeMode(directory, name, isExecutable).catch((error: unknown) => {
      throw diskFault('WriteFailed', `The mode of "${name}" could not be changed`, error);
    }),
  );
}

/** Runs the work on a file that still has this sha256, with its open folder and name. */
async function withUnchangedFile(
  root: string,
  segments: readonly string[],
  sha256: string,
  work: (directory: SafeDirectory, name: string) => Promise<void>,
): Promise<void> {
  const name = segments.at(-1)!;
  const directory = await openDirectory(fs, root, segments.slice(0, -1));
  if (directory === null) throw new ChangedMeanwhile();
  try {
    await expectUnchanged(directory, name, sha256);
    await work(directory, name);
  } finally {
    await directory.close();
  }
}

/** As git does: all who may read the file may execute it, or nobody. */
async function changeMode(directory: SafeDirectory, name: string, isExecutable: boolean): Promise<void> {
  const file = await fs.open(directory.entry(name), MODE_FLAGS);
  try {
    const mode = Number((await file.stat({ bigint: true })).mode) & 0o777;
    await file.chmod(isExecutable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Deletes a file that still has this sha256; with `keep` it is renamed instead.
 * @throws ChangedMeanwhile, WorkspaceFault
 */
export async function deleteFile(
  root: string,
  segments: readonly string[],
  { sha256, keep }: { sha256: string; keep: boolean },
): Promise<void> {
  return withUnchangedFile(root, segments, sha256, async (directory, name) => {
    if (keep) await keepBeside(fs, directory, name);
    await directory.verify();
    await fs.unlink(directory.entry(name)).catch((error: unknown) => {
      // Without hard links, keeping the file has renamed it.
      if (errnoOf(error) !== 'ENOENT') throw renameFault(`"${name}" could not be deleted`, error);
    });
    await directory.sync();
  });
}

async function expectUnchanged(directory: SafeDirectory, name: string, sha256: string | null): Promise<void> {
  const now = await hashFile(fs, directory, name);
  if ((now?.sha256 ?? null) !== sha256) throw new ChangedMeanwhile();
}
