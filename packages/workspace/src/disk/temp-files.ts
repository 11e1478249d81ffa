import type { WriteIntent } from '@patchbay/client/relay';

import { realFileSystem } from './file-system.js';
import { openDirectory } from './open-directory.js';
import type { WorkspaceContext } from './workspace-context.js';

/** Removes the temp files of a killed write. Files that cannot be removed stay. */
export async function removeTempFiles(
  context: WorkspaceContext,
  intents: readonly WriteIntent[],
): Promise<void> {
  const fs = context.fs ?? realFileSystem;
  for (const intent of intents) {
    const directory = await openDirectory(fs, intent.root, intent.segments.slice(0, -1)).catch(() => null);
    if (!directory) continue;
    await fs.unlink(directory.entry(intent.tempName)).catch(() => {});
    if (intent.patch) await fs.unlink(directory.entry(intent.patch.backupName)).catch(() => {});
    await directory.close();
  }
}
