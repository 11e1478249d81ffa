import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@patchbay/client';
import { SecretFiles } from '../disk/secret-files.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { FolderState } from './folder-state.js';
import type { FolderSync } from './folder-sync.js';
import { silent } from './progress.js';

/* A folder with its sync state, for tests that replace only the Cloud; not part of the build. */

export class SyncFixture {
  directory!: string;
  roots!: WorkspaceRoots;
  state!: FolderState;
  private home!: string;

  async open(): Promise<void> {
    this.directory = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-sync-')));
    this.home = await mkdtemp(join(tmpdir(), 'patchbay-sync-home-'));
    this.roots = await WorkspaceRoots.open([{ directory: this.directory, name: 'proj' }]);
    this.state = this.openState();
  }

  async close(): Promise<void> {
    for (const path of [this.directory, this.home]) await rm(path, { recursive: true });
  }

  /** The state as another process reads it. */
  readonly openState = () => {
    const { home, directory } = this;
    return FolderState.open(home, { url: 'http://one', workspaceId: 'w', directory, rootName: 'proj' });
  };
  readonly write = (name: string, text: string) => writeFile(join(this.directory, name), text);

  /** A sync of the folder with the given functions of the Cloud. */
  readonly sync = <T extends Partial<FolderSync>>(files: object, more?: T) => ({
    ...{ files: files as WorkspaceFiles, roots: this.roots, state: this.state, maxFileBytes: 1_000 },
    ...{ exclude: [], secrets: new SecretFiles(), progress: silent },
    ...{ force: false, delete: false, dryRun: false },
    ...(more as T),
  });
}
