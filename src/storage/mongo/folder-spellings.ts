import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import { Model } from 'mongoose';
import type { Folder, ListedEntry } from '../ports/files.store.js';
import { prefixEnd } from '../prefix-end.js';
import { MongoDatabase } from './database.js';
import { folderOf, livePlace, liveIn } from './entries.js';
import { type EntryDocument, ENTRIES, type SpellingDocument, SPELLINGS } from './file-collections.js';
import { Gathered } from './gathered.js';
import { checked, eq, keyOf } from './values.js';

/** Number of recently written spellings in memory; the least recently used are dropped. */
const MAX_RECENT = 20_000;
/** How long they are remembered: far shorter than the grace period of loose spellings. */
const RECENT_MS = 10 * 60_000;
/** Spellings that are checked per query. */
const PER_QUERY = 50;

type Place = Pick<SpellingDocument, 'workspaceId' | 'docPath'>;
type Order = 'path' | 'docPath';
type Listed = Pick<EntryDocument, 'kind' | 'path' | 'docPath' | 'updatedAt'>;
const LISTED = { _id: 0, kind: 1, path: 1, docPath: 1, updatedAt: 1 } as const;

/**
 * Implied folders: one exists while something live is below it, spelled like the first such entry by docPath. Before
 * an entry is written, a spelling is stored for each folder on its path. A listing reads the spellings of its range
 * in order and shows the valid ones, so it costs as much as it shows, plus stale spellings. A sweep removes stale
 * spellings some time after an entry below them was removed.
 */
@Injectable()
export class FolderSpellings {
  private readonly spelt = new RecentWrites();
  private readonly loosened = new RecentWrites();
  private readonly spellBatches = new Gathered<SpellingDocument, void>((requests) =>
    toEmptyAnswer(this.spellAll(requests)),
  );
  private readonly loosenBatches = new Gathered<string, void>((requests) =>
    toEmptyAnswer(this.loosenAll(requests)),
  );
  /** Whether any spelling of a docPath exists. */
  private readonly spellingsAt = new Gathered<Place, boolean>((places) => this.haveSpelling(places));

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(ENTRIES) private readonly entries: Model<EntryDocument>,
    @InjectModel(SPELLINGS) private readonly spellings: Model<SpellingDocument>,
  ) {}

  /** Stores the spellings of a path before something is live there. */
  async spell(workspaceId: string, path: string, docPath: string): Promise<void> {
    const now = Date.now();
    const spellings = spellingsOf({ workspaceId, path, docPath, looseSince: now });
    const missing = spellings.filter(({ _id }) => !this.spelt.has(_id, now));
    await Promise.all(missing.map((spelling) => this.spellBatches.of(spelling)));
  }

  /** Marks the spellings of a path as loose after its entry was removed; throttled like `spell`. */
  async loosen(workspaceId: string, path: string, docPath: string): Promise<void> {
    const now = Date.now();
    const spellings = spellingsOf({ workspaceId, path, docPath, looseSince: now });
    const known = spellings.map(({ _id }) => _id).filter((_id) => !this.loosened.has(_id, now));
    await Promise.all(known.map((_id) => this.loosenBatches.of(_id)));
  }

  /**
   * Checks up to `limit` spellings that have been loose since before `before` (epoch ms), and removes those without a
   * folder, unless one is being written. True if there may be more.
   */
  async removeUnused(before: number, limit: number): Promise<boolean> {
    const old = { looseSince: { $lt: checked(before) } };
    const loose = await this.database.attempt(() =>
      this.spellings.find(old).sort({ looseSince: 1 }).limit(limit).lean<SpellingDocument[]>(),
    );
    for (const { _id, workspaceId, docPath, looseSince } of loose) {
      const unchanged = { _id: eq(_id), looseSince: eq(looseSince) };
      const exists = (await this.impliedAt(workspaceId, docPath)) !== null;
      await this.database.attempt<unknown>(() =>
        exists
          ? this.spellings.updateOne(unchanged, { $set: { looseSince: null } })
          : this.spellings.deleteOne(unchanged),
      );
    }
    return loose.length === limit;
  }

  /** The implied folder at a docPath. Usually there is neither a folder nor a spelling. */
  async at(workspaceId: string, docPath: string): Promise<Folder | null> {
    const isSpelt = await this.spellingsAt.of({
      workspaceId: checked(workspaceId),
      docPath: checked(docPath),
    });
    return isSpelt ? this.impliedAt(workspaceId, docPath) : null;
  }

  /** The folder that live entries below a docPath imply. */
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

  /** Batches concurrent writes to one folder into one. */
  private async spellAll(requests: readonly SpellingDocument[]): Promise<void> {
    const now = Date.now();
    const missing = new Map(requests.map((spelling) => [spelling._id, spelling]));
    for (const _id of missing.keys()) if (this.spelt.has(_id, now)) missing.delete(_id);
    if (missing.size === 0) return;
    const ids = [...missing.keys()];
    // First existing spellings, so that no sweep removes them; then missing ones, or ones removed just before. A recent
    // `looseSince` leaves enough time, and skipping those keeps concurrent writers from updating the same document.
    const loose = { _id: { $in: ids }, looseSince: { $lt: now - RECENT_MS } };
    await this.database.attempt(() => this.spellings.updateMany(loose, { $set: { looseSince: now } }));
    await this.database.insertNew(this.spellings, [...missing.values()]);
    this.spelt.add(ids, now);
  }

  /** If this write fails, listings read more than necessary; nothing else breaks. */
  private async loosenAll(requests: readonly string[]): Promise<void> {
    const now = Date.now();
    const ids = [...new Set(requests)].filter((_id) => !this.loosened.has(_id, now));
    if (ids.length === 0) return;
    const $or = [{ looseSince: null }, { looseSince: { $lt: now - RECENT_MS } }];
    const loose = { $set: { looseSince: now } };
    await this.database
      .attempt(() => this.spellings.updateMany({ _id: { $in: ids }, $or }, loose))
      .then(
        () => this.loosened.add(ids, now),
        () => undefined,
      );
  }

  private async haveSpelling(places: readonly Place[]): Promise<boolean[]> {
    const [workspaceIds, docPaths] = [new Set<string>(), new Set<string>()];
    for (const { workspaceId, docPath } of places) {
      workspaceIds.add(workspaceId);
      docPaths.add(docPath);
    }
    const filter = { workspaceId: { $in: [...workspaceIds] }, docPath: { $in: [...docPaths] } };
    const fields = { _id: 0, workspaceId: 1, docPath: 1 } as const;
    const found = await this.database.attempt(() => this.spellings.find(filter, fields).lean<Place[]>());
    const spelt = new Set(found.map(({ workspaceId, docPath }) => livePlace(workspaceId, docPath)));
    return places.map(({ workspaceId, docPath }) => spelt.has(livePlace(workspaceId, docPath)));
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

  /** The first implied folders of a range. */
  private async impliedIn(
    workspaceId: string,
    range: object,
    order: Order,
    limit: number,
  ): Promise<ListedEntry[]> {
    const implied: ListedEntry[] = [];
    const sort: Record<string, 1> = order === 'path' ? { path: 1 } : { docPath: 1, path: 1 };
    const inRange = this.spellings.find({ workspaceId: eq(workspaceId), ...range });
    for (let skipped = 0; implied.length < limit; skipped += PER_QUERY) {
      const spelt = await this.database.attempt(() =>
        inRange.clone().sort(sort).skip(skipped).limit(PER_QUERY).lean<SpellingDocument[]>(),
      );
      implied.push(...(await this.validFolders(workspaceId, spelt)));
      if (spelt.length < PER_QUERY) break;
    }
    return implied.slice(0, limit);
  }

  private async validFolders(
    workspaceId: string,
    spelt: readonly SpellingDocument[],
  ): Promise<ListedEntry[]> {
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

/** Resolves with the same empty answer for all callers. */
async function toEmptyAnswer(work: Promise<void>): Promise<[]> {
  await work;
  return [];
}

/** The spellings of all folders on a path. */
function spellingsOf({
  path,
  docPath,
  ...rest
}: Pick<SpellingDocument, 'workspaceId' | 'path' | 'docPath' | 'looseSince'>): SpellingDocument[] {
  const spellings: SpellingDocument[] = [];
  for (
    let [folder, docFolder] = [folderOf(path), folderOf(docPath)];
    docFolder !== '';
    folder = folderOf(folder), docFolder = folderOf(docFolder)
  )
    spellings.push({
      _id: keyOf(rest.workspaceId, folder),
      ...rest,
      parent: folderOf(docFolder),
      path: folder,
      docPath: docFolder,
    });
  return spellings;
}

/** Spellings that were written recently, and need no second write. */
class RecentWrites {
  /** Expiry by key, epoch ms. */
  private readonly until = new LRUCache<string, number>({ max: MAX_RECENT });

  has(id: string, now: number): boolean {
    return (this.until.peek(id) ?? 0) > now;
  }

  add(ids: readonly string[], now: number): void {
    for (const id of ids) this.until.set(id, now + RECENT_MS);
  }
}
