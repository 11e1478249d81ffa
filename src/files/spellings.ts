import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { type FileRecord, FileStore, type ListedEntry } from '../storage/ports/files.store.js';
import { type ChangeOrigin, fileEvent } from './change-origin.js';
import { type CloudPath, folderOf, inRootOf } from './cloud-path.js';
import { movedFields } from './file-fields.js';
import { FileHeads } from './file-heads.js';
import { Folders, wasMade } from './folders.js';
import { PathLocks } from './path-locks.js';

const LISTED_AT_ONCE = 1_000;

/** Place of a file that was renamed only by case or Unicode form. */
export type Renamed = Pick<CloudPath, 'path' | 'docPath'>;

/** Applies the spelling of a client's files and folders to the Cloud [FILE-31]. */
@Injectable()
export class Spellings {
  constructor(
    private readonly files: FileStore,
    private readonly heads: FileHeads,
    private readonly folders: Folders,
    private readonly paths: PathLocks,
    private readonly clock: Clock,
  ) {}

  /** Renames a file to the spelling of `target` if it still has the spelling `from`; returns the resulting file. */
  rename(origin: ChangeOrigin, target: CloudPath, from: string): Promise<FileRecord> {
    return this.paths.attempt(origin, [target], async () => {
      const file = await this.files.at(origin.workspaceId, target.docPath);
      if (file?.kind !== 'file')
        throw new DomainError('STALE', 'There is no such file.', { details: { currentSha256: null } });
      const path = inRootOf(file.path, target.path);
      if (file.path !== from || path === from) return file;
      const now = this.clock.now();
      const renamed = { ...file, path, revision: file.revision + 1, updatedAt: now };
      const event = fileEvent('File.Moved', origin, now, movedFields(renamed, from));
      return (await this.heads.save(origin, file, renamed, event)) ? renamed : null;
    });
  }

  /** Renames the parents of renamed files likewise, unless a file in them keeps the old spelling. */
  async follow(origin: ChangeOrigin, renamed: readonly Renamed[]): Promise<void> {
    const folders = new Map<string, Renamed>();
    for (const file of renamed) {
      const above = folderOf({ ...file, namesFolder: false });
      for (let at = above; at.docPath !== ''; at = folderOf(at)) folders.set(at.docPath, at);
    }
    const topDown = [...folders.values()].sort((a, b) => a.docPath.length - b.docPath.length);
    for (const folder of topDown) await this.respell(origin, folder);
  }

  private async respell(origin: ChangeOrigin, { path, docPath }: Renamed): Promise<void> {
    const folder = await this.files.at(origin.workspaceId, docPath);
    if (folder?.kind !== 'folder' || !wasMade(folder) || folder.path === path) return;
    const inside = await this.foldersWithPrefix(origin.workspaceId, docPath, `${folder.path}/`);
    if (inside === null) return;
    await this.folders.rename(origin, folder, path);
    for (const { docPath: at, path: was } of inside) {
      const deeper = await this.files.at(origin.workspaceId, at);
      if (deeper?.kind !== 'folder' || !wasMade(deeper) || deeper.path !== was) continue;
      await this.folders.rename(origin, deeper, path + was.slice(folder.path.length));
    }
  }

  /** The folders below one with this prefix; null if a file has it. */
  private async foldersWithPrefix(
    workspaceId: string,
    docPath: string,
    prefix: string,
  ): Promise<ListedEntry[] | null> {
    const found: ListedEntry[] = [];
    for (let after: string | null = null; ;) {
      await yieldIfBusy();
      const page: ListedEntry[] = await this.files.below(workspaceId, docPath, after, LISTED_AT_ONCE);
      const matching = page.filter(({ path }) => path.startsWith(prefix));
      if (matching.some(({ kind }) => kind === 'file')) return null;
      found.push(...matching);
      if (page.length < LISTED_AT_ONCE) return found;
      after = page.at(-1)!.docPath;
    }
  }
}
