import { DEFAULT_MAX_FILE_BYTES } from './create-file.js';
import { DocPathFinder } from './doc-path-finder.js';
import { readFile } from './file-entry.js';
import { realFileSystem } from './file-system.js';
import { PatchFileFault } from './patch-file-fault.js';
import { openDirectory } from './safe-directory.js';
import { WorkspaceFault } from './workspace-fault.js';
import type { PatchContext } from './write-patch.js';

/** A file as it is to be uploaded. */
export interface LocalFile {
  /** In its real case, with its root's name: `/<root name>/<relative path>`. */
  cloudPath: string;
  bytes: Buffer;
  sha256: string;
}

/** Reads files by their docPath; names are looked up once, so use one for one look at the disk. */
export class PatchedFiles {
  private readonly finder: DocPathFinder;

  constructor(private readonly context: PatchContext) {
    this.finder = new DocPathFinder(context.fs ?? realFileSystem, context.roots);
  }

  /** Null where there is no such file, or none that may be read. */
  async read(docPath: string): Promise<LocalFile | null> {
    try {
      return await this.readFound(docPath);
    } catch (error) {
      if (error instanceof PatchFileFault || error instanceof WorkspaceFault) return null;
      throw error;
    }
  }

  private async readFound(docPath: string): Promise<LocalFile | null> {
    const { fs = realFileSystem, maxFileBytes = DEFAULT_MAX_FILE_BYTES } = this.context;
    const { root, segments } = await this.finder.find(docPath);
    const directory = await openDirectory(fs, root.directory, segments.slice(0, -1));
    if (!directory) return null;
    try {
      const file = await readFile(fs, directory, segments.at(-1)!, maxFileBytes);
      if (!file) return null;
      const cloudPath = `/${[root.name, ...segments].join('/')}`;
      return { cloudPath, bytes: file.bytes, sha256: file.sha256 };
    } finally {
      await directory.close();
    }
  }
}
