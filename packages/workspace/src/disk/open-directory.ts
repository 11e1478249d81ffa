import type { FileSystem } from './file-system.js';
import { HandleDirectory } from './handle-directory.js';
import { PathDirectory } from './path-directory.js';
import type { SafeDirectory } from './safe-directory.js';
import { diskFault, errnoOf, RootMissing, WorkspaceFault } from './workspace-fault.js';

/** The opened folder of a file. */
export interface WalkedDirectory {
  readonly directory: SafeDirectory;
  /** Removes the empty folders that this call created. */
  undo(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the folder at `segments` below the real path `root` and creates missing folders (0777 less the umask). Rejects
 * a link at any component [CREATE-2].
 * @throws WorkspaceFault InvalidPath, DirectoryCreateFailed
 */
export async function ensureDirectory(
  fs: FileSystem,
  root: string,
  segments: readonly string[],
): Promise<WalkedDirectory> {
  const opened: SafeDirectory[] = [await openRoot(fs, root)];
  const created: { parent: SafeDirectory; name: string }[] = [];
  const walked = {
    get directory() {
      return opened.at(-1)!;
    },
    undo: async () => {
      for (const { parent, name } of created.reverse()) await fs.rmdir(parent.entry(name)).catch(() => {});
    },
    close: async () => {
      for (const directory of opened.splice(0)) await directory.close();
    },
  };
  try {
    for (const name of segments) {
      const parent = walked.directory;
      const existing = await parent.child(name);
      if (!existing && (await createFolder(fs, parent, name))) created.push({ parent, name });
      opened.push(existing ?? (await openCreated(parent, name)));
    }
    return walked;
  } catch (error) {
    await walked.undo();
    await walked.close();
    throw error;
  }
}

/** Opens the folder at `segments` as `ensureDirectory` does, but creates nothing; null if it is missing. */
export async function openDirectory(
  fs: FileSystem,
  root: string,
  segments: readonly string[],
): Promise<SafeDirectory | null> {
  let directory: SafeDirectory | null = await openRoot(fs, root);
  for (const name of segments) {
    const parent: SafeDirectory = directory;
    directory = await parent.child(name).finally(() => parent.close());
    if (!directory) return null;
  }
  return directory;
}

/** False if another process created the folder first. */
async function createFolder(fs: FileSystem, parent: SafeDirectory, name: string): Promise<boolean> {
  try {
    await parent.verify();
    await fs.mkdir(parent.entry(name), 0o777);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw diskFault('DirectoryCreateFailed', `The folder "${name}" could not be made`, error);
  }
  await parent.sync();
  return true;
}

async function openCreated(parent: SafeDirectory, name: string): Promise<SafeDirectory> {
  const child = await parent.child(name);
  if (!child)
    throw new WorkspaceFault('DirectoryCreateFailed', `The folder "${name}" vanished while it was made.`);
  return child;
}

async function openRoot(fs: FileSystem, root: string): Promise<SafeDirectory> {
  const opened = fs.hasHandlePaths
    ? await HandleDirectory.open(fs, root)
    : await PathDirectory.openRoot(fs, root);
  if (!opened) throw new RootMissing();
  return opened;
}
