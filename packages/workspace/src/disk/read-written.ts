import type { WriteIntent } from '@patchbay/client/relay';
import { DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';
import type { WorkspaceContext } from './workspace-context.js';
import { readFile } from './file-entry.js';
import { realFileSystem } from './file-system.js';
import { openDirectory } from './open-directory.js';
import { WorkspaceFault } from './workspace-fault.js';

/** Returns the bytes that a write left; null if the file is gone or has changed since. */
export async function readWritten(context: WorkspaceContext, intent: WriteIntent): Promise<Buffer | null> {
  const { fs = realFileSystem, maxFileBytes = DEFAULT_MAX_FILE_BYTES } = context;
  try {
    const directory = await openDirectory(fs, intent.root, intent.segments.slice(0, -1));
    if (!directory) return null;
    try {
      const file = await readFile(fs, directory, intent.segments.at(-1)!, maxFileBytes);
      return file?.sha256 === intent.sha256 ? file.bytes : null;
    } finally {
      await directory.close();
    }
  } catch (error) {
    if (error instanceof WorkspaceFault) return null;
    throw error;
  }
}
