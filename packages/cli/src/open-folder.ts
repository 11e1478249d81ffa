import type { WorkspaceClient } from '@patchbay/client';
import type { ClientRoot } from '@patchbay/protocol';
import { WorkspaceRoots } from '@patchbay/workspace';
import { FolderState, holdsAll, holdsMost } from '@patchbay/workspace/sync';
import { FolderIdentities, type Naming } from './folder-identity.js';
import type { Settings } from './settings.js';

/** A folder of this machine, and what is known of it. */
export interface OpenedFolder {
  /** This folder alone. */
  roots: WorkspaceRoots;
  state: FolderState;
  /** Registers it at the server; `mayAdopt`: as the project that has the name, unless it has been another one before. */
  root: (mayAdopt?: boolean) => Promise<ClientRoot>;
}

/** Opens a folder under the name that it goes by. No path leads into a `reserved` folder. */
export async function openFolder(
  { home, url }: Settings,
  workspace: WorkspaceClient,
  { directory: given, ...naming }: Naming & { directory: string },
  reserved: readonly string[],
): Promise<OpenedFolder> {
  const identities = new FolderIdentities(home, url, workspace);
  const { directory } = (await WorkspaceRoots.open([{ directory: given }])).all[0]!;
  const name = await identities.nameOf(directory, naming);
  const roots = await WorkspaceRoots.open([{ directory, name }], reserved);
  const pair = { url, workspaceId: workspace.workspaceId, directory, rootName: name };
  const state = FolderState.open(home, pair);
  const root = (mayAdopt = false) =>
    identities.claim(directory, naming, async () => {
      if (mayAdopt) return true;
      // What is remembered of the place tells only of the folder that was there.
      if (state.baseCount > 0) return holdsMost({ roots, state });
      return holdsAll({ files: workspace.files, roots });
    });
  return { roots, state, root };
}
