import { randomBytes } from 'node:crypto';
import { StagedFile } from '../disk/atomic-write.js';
import { hashFile, statFile } from '../disk/file-entry.js';
import { ensureDirectory, openDirectory } from '../disk/open-directory.js';
import { keepBeside } from '../disk/keep-beside.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import { errnoOf, WorkspaceFault } from '../disk/workspace-fault.js';
import { FILES_AT_ONCE, inParallel } from '../disk/in-parallel.js';
import { inlineFileSystem as fs } from './inline-file-system.js';

/** The file is no longer what was decided about. */
export class ChangedMeanwhile extends Error {}

/** A file that is to be put in its place. */
export interface Placement {
  name: string;
  bytes: Uint8Array;
  /** sha256 of the file that is there; null: there is none. */
  replaces: string | null;
  /** What is there is nowhere else: it gets another name. */
  keep: boolean;
  tempName: string;
  /** Set where it was placed without the attributes that the replaced file may have had. */
  hasLostAttributes?: boolean;
}

/** A name for a temp file by which the next pull of the folder knows it; `key` has 8 hex digits. */
export function pullTempName(key: string): string {
  return `.patchbay-pull-${key}-${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * Puts files of one folder, which is made where it is missing, in their places: each in one step and for itself. When it
 * ends they are durable. Gives those that could not be, with the reason: ChangedMeanwhile or a WorkspaceFault.
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
      await place(unsynced(directory), file).catch((error: unknown) => faults.set(file, error));
    });
    if (faults.size < files.length) await directory.sync();
    else await walked.undo();
    return faults;
  } finally {
    await walked.close();
  }
}

/** One wait for the disk is enough for all that is put into a folder. */
function unsynced(directory: SafeDirectory): SafeDirectory {
  return {
    entry: (name) => directory.entry(name),
    child: (name) => directory.child(name),
    verify: () => directory.verify(),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

async function place(directory: SafeDirectory, placement: Placement): Promise<void> {
  const { name, bytes, replaces, keep, tempName } = placement;
  await expectStill(directory, name, replaces);
  const replaced = await statFile(fs, directory, name);
  const staged = await StagedFile.stage(fs, directory, { name, tempName, bytes, replaces: replaced });
  try {
    // Staging waits for the disk, which is long enough for an editor to save.
    if (replaced) await expectStill(directory, name, replaces);
    if (keep) await keepBeside(fs, directory, name);
    await staged.commit();
    placement.hasLostAttributes = staged.hasLostAttributes;
  } catch (error) {
    throw error instanceof WorkspaceFault && error.code === 'FileExists' ? new ChangedMeanwhile() : error;
  } finally {
    await staged.discard();
  }
}

/**
 * Deletes a file whose sha256 is still this; with `keep` it gets another name instead.
 * @throws ChangedMeanwhile, WorkspaceFault
 */
export async function deleteFile(
  root: string,
  segments: readonly string[],
  { sha256, keep }: { sha256: string; keep: boolean },
): Promise<void> {
  const name = segments.at(-1)!;
  const directory = await openDirectory(fs, root, segments.slice(0, -1));
  if (directory === null) throw new ChangedMeanwhile();
  try {
    await expectStill(directory, name, sha256);
    if (keep) await keepBeside(fs, directory, name);
    await directory.verify();
    await fs.unlink(directory.entry(name)).catch(unlessGone);
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** On a disk without hard links it was renamed to be kept. */
function unlessGone(error: unknown): void {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

async function expectStill(directory: SafeDirectory, name: string, sha256: string | null): Promise<void> {
  const now = await hashFile(fs, directory, name);
  if ((now?.sha256 ?? null) !== sha256) throw new ChangedMeanwhile();
}
