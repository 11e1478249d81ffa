import { Injectable } from '@nestjs/common';
import { type Addition, Quotas } from '../limits/quotas.js';
import { pathFields } from '../common/audit-path.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { FileStore, type Folder, type FolderRecord } from '../storage/ports/files.store.js';
import { type ChangeOrigin, fileEvent } from './change-origin.js';
import { type CloudPath, folderOf, inRootOf, nameOf, pathIn } from './cloud-path.js';

const LISTED_AT_ONCE = 1_000;

/** A folder that does not exist yet, and its name. */
interface MissingFolder {
  name: string;
  docPath: string;
}

/** The nearest existing folder above an entry, and the missing folders between. */
interface Above {
  base: string;
  missing: MissingFolder[];
}

/**
 * Creates and removes folders, each a write of its own. Writes of others may come between; that is safe, because a
 * folder also exists while it has content.
 */
@Injectable()
export class Folders {
  /** Pending creations of this process, by workspace and docPath; each returns whether it succeeded. */
  private readonly making = new Map<string, Promise<boolean>>();

  constructor(
    private readonly files: FileStore,
    private readonly quotas: Quotas,
    private readonly clock: Clock,
  ) {}

  /**
   * The path of an entry in the spelling of its folders; creates missing ones at `now` (epoch ms) if there is room for
   * them and for `adds`. Null if another writer changed a folder; CONFLICT if a file is above it.
   */
  async pathFor(
    origin: ChangeOrigin,
    target: CloudPath,
    now: number,
    adds: Addition = {},
  ): Promise<string | null> {
    const { workspaceId } = origin;
    let above = await this.findAbove(workspaceId, target);
    // Of parallel writes into a missing folder one creates it; if that is refused, each tries on its own.
    for (let isMade = true; isMade;) {
      const other = keysOf(workspaceId, above.missing).find((key) => this.making.has(key));
      if (other === undefined) break;
      isMade = await this.making.get(other)!.catch(() => false);
      above = await this.findAbove(workspaceId, target);
    }
    return this.placeBelow(origin, target, now, adds, above);
  }

  /**
   * The path of an entry in the spelling of its parents, or in its own spelling if its folder holds entries spelled
   * that way. Only the folder's first entries are checked.
   */
  async spelling(workspaceId: string, target: CloudPath, place: string): Promise<string> {
    const own = inRootOf(place, target.path);
    const folder = own.slice(0, own.lastIndexOf('/') + 1);
    if (place.startsWith(folder)) return place;
    const inside = await this.files.below(workspaceId, folderOf(target).docPath, null, LISTED_AT_ONCE);
    return inside.some(({ path }) => path.startsWith(folder)) ? own : place;
  }

  /** Creates one folder; null if its docPath was taken meanwhile. */
  make(origin: ChangeOrigin, path: string, docPath: string, now: number): Promise<FolderRecord | null> {
    return this.quotas.write(origin, { files: 1, versions: 1 }, () =>
      this.insert(origin, path, docPath, now),
    );
  }

  private async insert(
    origin: ChangeOrigin,
    path: string,
    docPath: string,
    now: number,
  ): Promise<FolderRecord | null> {
    const { workspaceId, userId: holder } = origin;
    const folder: FolderRecord = {
      ...{ kind: 'folder', id: newId(), workspaceId, path, docPath, createdAt: now, holder },
    };
    const event = fileEvent('Folder.Created', origin, now, { ...pathFields(path), fileId: folder.id });
    return (await this.files.insertFolder(folder, [event])) ? folder : null;
  }

  /** Removes an empty folder; null if it is gone already, CONFLICT if it has content. */
  async removeEmpty(origin: ChangeOrigin, folder: Folder): Promise<FolderRecord | null> {
    const { workspaceId, docPath, path } = folder;
    const [first] = await this.files.childrenOf(workspaceId, docPath, null, 1);
    if (first !== undefined) {
      throw new DomainError('CONFLICT', `The folder is not empty: ${path} has ${nameOf(first.path)}.`);
    }
    if (!wasMade(folder)) return null;
    const now = this.clock.now();
    const event = fileEvent('Folder.Deleted', origin, now, { ...pathFields(path), fileId: folder.id });
    const remove = () => this.files.removeFolder(folder, now, [event]);
    return (await this.quotas.write(origin, {}, remove)) ? folder : null;
  }

  /** Changes the spelling of a folder. */
  async rename(origin: ChangeOrigin, folder: FolderRecord, path: string): Promise<void> {
    const now = this.clock.now();
    const fields = { ...pathFields(folder.path), fileId: folder.id };
    const event = fileEvent('Folder.Deleted', origin, now, fields);
    const remove = () => this.files.removeFolder(folder, now, [event]);
    if (await this.quotas.write(origin, {}, remove)) await this.make(origin, path, folder.docPath, now);
  }

  /** The path of an entry below existing folders; creates the missing ones. */
  private async placeBelow(
    origin: ChangeOrigin,
    target: CloudPath,
    now: number,
    { files = 0, versions = 0, ...adds }: Addition,
    { base, missing }: Above,
  ): Promise<string | null> {
    // Room for the entry itself is checked when it is written.
    if (missing.length === 0) return pathIn(base, nameOf(target.path));
    const paths = [base];
    for (const { name } of missing) paths.push(pathIn(paths.at(-1)!, name));
    const room = { ...adds, files: files + missing.length, versions: versions + missing.length };
    const making = this.quotas.write(origin, room, async () => {
      const folders = missing.map(({ docPath }, at) => this.insert(origin, paths[at + 1]!, docPath, now));
      return !(await Promise.all(folders)).includes(null);
    });
    const keys = keysOf(origin.workspaceId, missing);
    for (const key of keys) this.making.set(key, making);
    try {
      return (await making) ? pathIn(paths.at(-1)!, nameOf(target.path)) : null;
    } finally {
      for (const key of keys) if (this.making.get(key) === making) this.making.delete(key);
    }
  }

  private async findAbove(workspaceId: string, target: CloudPath): Promise<Above> {
    const missing: MissingFolder[] = [];
    for (let above = folderOf(target); above.docPath !== ''; above = folderOf(above)) {
      const entry = await this.files.at(workspaceId, above.docPath);
      if (entry?.kind === 'file') throw new DomainError('CONFLICT', `${entry.path} is a file.`);
      if (entry !== null && wasMade(entry)) return { base: entry.path, missing };
      missing.unshift({ name: nameOf((entry ?? above).path), docPath: above.docPath });
    }
    return { base: '/', missing };
  }
}

function keysOf(workspaceId: string, folders: readonly MissingFolder[]): string[] {
  return folders.map(({ docPath }) => `${workspaceId}/${docPath}`);
}

/** Whether the folder was created explicitly; otherwise it exists only through its content. */
export function wasMade(folder: Folder): folder is FolderRecord {
  return folder.id !== null;
}
