import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import type { Folder, ListedEntry } from '../ports/files.store.js';
import { prefixEnd } from '../prefix-end.js';
import { MongoDatabase } from './database.js';
import { folderOf, livePlace, liveIn } from './entries.js';
import { type EntryDocument, ENTRIES, type SpellingDocument, SPELLINGS } from './file-collections.js';
import { checked, eq, keyOf } from './values.js';

/** Spellings that are known to be stored; of more the oldest is forgotten. */
const KNOWN = 20_000;
/** So many are looked at at once. */
const AT_ONCE = 50;

type Order = 'path' | 'docPath';
type Listed = Pick<EntryDocument, 'kind' | 'path' | 'docPath' | 'updatedAt'>;
const LISTED = { _id: 0, kind: 1, path: 1, docPath: 1, updatedAt: 1 } as const;

/**
 * Folders that nobody made: one is there while something live lies below it, spelt as the first of that by docPath. Where
 * they may be is written down before whatever lies below is: a spelling for each folder on its path, once and for all. A
 * listing goes through the spellings of its range, in order, and shows those that hold: so it costs as much as it shows, and
 * as many spellings as do not hold any more.
 */
@Injectable()
export class Folders {
  private readonly known = new Set<string>();

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(ENTRIES) private readonly entries: Model<EntryDocument>,
    @InjectModel(SPELLINGS) private readonly spellings: Model<SpellingDocument>,
  ) {}

  /** Before something is live at a path. */
  async spell(workspaceId: string, path: string, docPath: string): Promise<void> {
    const missing: SpellingDocument[] = [];
    for (
      let [at, of] = [folderOf(path), folderOf(docPath)];
      of !== '';
      at = folderOf(at), of = folderOf(of)
    ) {
      const _id = keyOf(workspaceId, at);
      if (!this.known.has(_id))
        missing.push({ _id, workspaceId, parent: folderOf(of), path: at, docPath: of });
    }
    if (missing.length === 0) return;
    await this.database.insertNew(this.spellings, missing);
    for (const { _id } of missing) this.known.add(_id);
    for (const _id of this.known) {
      if (this.known.size <= KNOWN) break;
      this.known.delete(_id);
    }
  }

  /** The folder that is implied at a docPath by what is live below it. */
  async impliedAt(workspaceId: string, docPath: string): Promise<Folder | null> {
    const prefix = `${docPath}/`;
    const below = { ...liveIn(workspaceId), docPath: { $gt: checked(prefix), $lt: prefixEnd(prefix)! } };
    const first = await this.database.attempt(() =>
      this.entries
        .findOne(below, { path: 1, createdAt: 1 })
        .sort({ docPath: 1 })
        .lean<Pick<EntryDocument, 'path' | 'createdAt'>>(),
    );
    if (first === null) return null;
    const depth = docPath.split('/').length;
    const path = `/${first.path
      .split('/')
      .slice(1, depth + 1)
      .join('/')}`;
    return { kind: 'folder', id: null, workspaceId, path, docPath, createdAt: first.createdAt };
  }

  /** Entries of one folder, by path. */
  childrenOf(
    workspaceId: string,
    parent: string,
    afterPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    const range = { parent: eq(parent), path: { $gt: checked(afterPath) ?? '' } };
    return this.listed(workspaceId, range, 'path', limit);
  }

  /** Entries anywhere below a folder, by docPath. */
  below(
    workspaceId: string,
    folder: string,
    afterDocPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    const prefix = folder === '' ? '' : `${folder}/`;
    const $lt = prefixEnd(checked(prefix));
    const docPath = { $gt: checked(afterDocPath) ?? prefix, ...($lt !== null && { $lt }) };
    return this.listed(workspaceId, { docPath }, 'docPath', limit);
  }

  private async listed(
    workspaceId: string,
    range: object,
    order: Order,
    limit: number,
  ): Promise<ListedEntry[]> {
    const [stored, implied] = await Promise.all([
      this.database.attempt(() =>
        this.entries
          .find({ ...liveIn(workspaceId), ...range }, LISTED)
          .sort({ [order]: 1 })
          .limit(limit)
          .lean<Listed[]>(),
      ),
      this.impliedIn(workspaceId, range, order, limit),
    ]);
    return [...stored, ...implied]
      .sort((one, other) => Buffer.compare(Buffer.from(one[order]), Buffer.from(other[order])))
      .slice(0, limit);
  }

  /** The first folders of a range that are there without having been made. */
  private async impliedIn(
    workspaceId: string,
    range: object,
    order: Order,
    limit: number,
  ): Promise<ListedEntry[]> {
    const implied: ListedEntry[] = [];
    const sort: Record<string, 1> = order === 'path' ? { path: 1 } : { docPath: 1, path: 1 };
    const inRange = this.spellings.find({ workspaceId: eq(workspaceId), ...range });
    for (let skipped = 0; implied.length < limit; skipped += AT_ONCE) {
      const spelt = await this.database.attempt(() =>
        inRange.clone().sort(sort).skip(skipped).limit(AT_ONCE).lean<SpellingDocument[]>(),
      );
      implied.push(...(await this.thatHold(workspaceId, spelt)));
      if (spelt.length < AT_ONCE) break;
    }
    return implied.slice(0, limit);
  }

  private async thatHold(workspaceId: string, spelt: readonly SpellingDocument[]): Promise<ListedEntry[]> {
    const $in = spelt.map(({ docPath }) => livePlace(workspaceId, docPath));
    const covering = await this.database.attempt(() =>
      this.entries.find({ place: { $in } }, { docPath: 1 }).lean<{ docPath: string }[]>(),
    );
    const covered = new Set(covering.map(({ docPath }) => docPath));
    const found = await Promise.all(
      spelt.map(async ({ path, docPath }) => {
        const folder = covered.has(docPath) ? null : await this.impliedAt(workspaceId, docPath);
        return folder?.path === path ? folder : null;
      }),
    );
    return found
      .filter((folder) => folder !== null)
      .map(({ path, docPath, createdAt }) => ({ kind: 'folder', path, docPath, updatedAt: createdAt }));
  }
}
