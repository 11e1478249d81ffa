import type { WorkspaceClient } from '@patchbay/client';
import type { ClientRoot } from '@patchbay/protocol';
import { WorkspaceRoots } from '@patchbay/workspace';
import { FolderState, holdsAll, holdsMost } from '@patchbay/workspace/sync';
import { CliError, EXIT } from './cli-error.js';
import { FolderIdentities, type Naming } from './folder-identity.js';
import type { Settings } from './settings.js';

/** A local folder and its stored state. */
export interface OpenedFolder {
  /** This folder only. */
  roots: WorkspaceRoots;
  state: FolderState;
  /** Registers it at the server; `mayAdopt`: as the project that has the name, unless it was another one before. */
  root: (mayAdopt?: boolean) => Promise<ClientRoot>;
}

/**
 * Opens folders that a person has named. @throws CliError if one is missing, is not a folder, or two have the same
 * name.
 */
export async function openRoots(directories: readonly string[]): Promise<WorkspaceRoots> {
  return WorkspaceRoots.open(directories.map((directory) => ({ directory }))).catch((error: unknown) => {
    throw new CliError((error as Error).message, EXIT.usage);
  });
}

/** Opens a folder under its Cloud name. No path leads into a `reserved` folder. */
export async function openFolder(
  { home, url }: Settings,
  workspace: WorkspaceClient,
  { directory: given, ...naming }: Naming & { directory: string },
  reserved: readonly string[],
): Promise<OpenedFolder> {
  const identities = new FolderIdentities(home, url, workspace);
  const { directory } = (await openRoots([given])).all[0]!;
  const name = await identities.nameOf(directory, naming);
  const roots = await WorkspaceRoots.open([{ directory, name }], reserved);
  const pair = { url, workspaceId: workspace.workspaceId, directory, rootName: name };
  const state = FolderState.open(home, pair);
  const root = (mayAdopt = false) =>
    identities.claim(directory, naming, async () => {
      if (mayAdopt) return true;
      // The stored state may belong to an earlier folder at this path.
      if (state.baseCount > 0) return holdsMost({ roots, state });
      return holdsAll({ files: workspace.files, roots });
    });
  return { roots, state, root };
}

/** The same for a folder that was connected, pushed or pulled before; null for any other, without a trace. */
export async function openKnownFolder(
  settings: Settings,
  workspace: WorkspaceClient,
  directory: string,
): Promise<OpenedFolder | null> {
  const [root] = (await openRoots([directory])).all;
  const identities = new FolderIdentities(settings.home, settings.url, workspace);
  if (!(await identities.isKnown(root!.directory))) return null;
  return openFolder(settings, workspace, { directory }, [settings.home]);
}
