import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { type FileSystem, realFileSystem } from './file-system.js';
import { WorkspaceRoots } from './workspace-roots.js';

/* A folder for tests of writes; not part of the build. */

/** Both ways to open a folder. */
export const WALKS: [how: string, hasHandlePaths: boolean][] = [
  ['by descriptors', true],
  ['by paths', false],
];
export const errno = (code: string) => Object.assign(new Error(`${code}: /secret/path`), { code });
export const isTemp = (path: string) => basename(path).startsWith('.patchbay-');

/** A connected folder that is opened in one of both ways, inside an outer folder. */
export class WalkedFolder {
  readonly fs: FileSystem;
  base!: string;
  root!: string;
  context!: { roots: WorkspaceRoots; fs: FileSystem };

  constructor(
    private readonly prefix: string,
    private readonly name: string,
    readonly hasHandlePaths: boolean,
  ) {
    this.fs = { ...realFileSystem, hasHandlePaths };
  }

  async open(): Promise<void> {
    this.base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), this.prefix)));
    this.root = join(this.base, this.name);
    await disk.mkdir(this.root);
    this.context = { roots: await WorkspaceRoots.open([{ directory: this.root }]), fs: this.fs };
  }

  close(): Promise<void> {
    return disk.rm(this.base, { recursive: true, force: true });
  }

  readonly tree = async () => (await disk.readdir(this.root, { recursive: true })).sort();
  readonly read = (path: string) => disk.readFile(join(this.root, path), 'utf8');
  readonly write = async (path: string, content: string | Uint8Array) => {
    await disk.mkdir(join(this.root, path, '..'), { recursive: true });
    await disk.writeFile(join(this.root, path), content);
  };
}
