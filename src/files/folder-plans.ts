import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { FileStore, type FolderRecord } from '../storage/ports/files.store.js';
import { type ChangeOrigin, fileEvent } from './change-origin.js';
import { type CloudPath, folderOf, nameOf, pathIn } from './cloud-path.js';

/** The folders that a new entry lacks, and how its path reads in the spelling of those that it has. */
export interface FolderPlan {
  /** The entry's path. */
  pathOf(name: string): string;
  /**
   * Begins to make what is missing at `now` (epoch ms), the outermost first; one that another writer has made meanwhile gives null. Start
   * the entry's own write beside it: the store takes writes in order, and so all of them share one commit.
   */
  make(now: number): Promise<FolderRecord | null>[];
}

/** Works out which folders have to be made for an entry. */
@Injectable()
export class FolderPlans {
  constructor(private readonly files: FileStore) {}

  /** The plan for an entry at this path; CONFLICT where a file is above it. */
  async plan(origin: ChangeOrigin, target: CloudPath): Promise<FolderPlan> {
    const missing: CloudPath[] = [];
    let base = '/';
    for (let folder = folderOf(target); folder.docPath !== ''; folder = folderOf(folder)) {
      const entry = await this.files.at(origin.workspaceId, folder.docPath);
      if (entry?.kind === 'file') throw new DomainError('CONFLICT', `${entry.path} is a file.`);
      if (entry !== null) {
        base = entry.path;
        break;
      }
      missing.unshift(folder);
    }
    const paths: string[] = [];
    for (const { path } of missing) paths.push(pathIn(paths.at(-1) ?? base, nameOf(path)));
    return {
      pathOf: (name) => pathIn(paths.at(-1) ?? base, name),
      make: (now) => missing.map(({ docPath }, at) => this.makeOne(origin, paths[at]!, docPath, now)),
    };
  }

  /** Makes one folder, in one that is there; null where another writer was faster. */
  async makeOne(
    origin: ChangeOrigin,
    path: string,
    docPath: string,
    now: number,
  ): Promise<FolderRecord | null> {
    const { workspaceId } = origin;
    const folder: FolderRecord = { kind: 'folder', id: newId(), workspaceId, path, docPath, createdAt: now };
    const event = fileEvent('Folder.Created', origin, now, { path, docPath, fileId: folder.id });
    return (await this.files.insertFolder(folder, [event])) ? folder : null;
  }
}
