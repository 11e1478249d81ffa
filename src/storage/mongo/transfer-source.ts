import { valueOf } from '../../common/json-text.js';
import type { RecordStore } from '../records/record-store.js';
import type { RecordSource } from '../transfer/store.js';
import type { AggregateKind, CallValues, WholeEntry, Records } from '../transfer/records.js';
import { isNoUsage } from '../transfer/records.js';
import type { Turn } from '../ports/turn.js';
import type { WithOutbox } from './outbox.js';
import { type BlobHead, WITHOUT_BYTES } from './blobs.js';
import { type WorkspaceDocument, WORKSPACES } from './collections.js';
import { ENTRY, type StoredEntry, toEntry } from './entries.js';
import { ENTRIES, VERSIONS } from './file-collections.js';
import type { TransferStores } from './transfer-stores.js';
import { toRecord, TRAIL, type TrailDocument } from './trail-collections.js';
import { type CallEntry, NONE, type TurnDocument } from './turn-collections.js';
import { turnFrom } from './turn-documents.js';
import { eq } from './values.js';
import { versionId } from './versions.js';

const PAGE = 500;

type Pages<Of extends AggregateKind> = AsyncIterable<Records[Of][]>;
type Fresh = Pick<StoredEntry, 'id' | 'workspaceId'> & {
  fresh: Omit<Records['versions'], 'workspaceId' | 'fileId'>[];
};

/** Reads everything in the database. Visible orders, such as that of workspaces in a list, are kept. */
export class MongoTransferSource implements RecordSource {
  private readonly readers: { readonly [Of in AggregateKind]: () => Pages<Of> } = {
    workspaces: () =>
      this.pagesOf<WorkspaceDocument, 'workspaces'>(
        WORKSPACES,
        ({ _id: id, removals, ...workspace }) => {
          const lastOfUser = [...new Map(removals.map((removal) => [removal.userId, removal])).values()];
          return { id, ...workspace, removals: lastOfUser.sort((a, b) => (a.userId < b.userId ? -1 : 1)) };
        },
        { createdAt: 1, _id: 1 },
      ),
    blobs: () => this.blobs(),
    entries: () =>
      this.pagesOf<StoredEntry, 'entries'>(
        ENTRIES,
        (entry) => ({ ...toEntry(withoutId(entry)), deletedAt: entry.deletedAt }) as WholeEntry,
        { _id: 1 },
        ENTRY,
      ),
    versions: () => this.versions(),
    batches: () => this.batches(),
    turns: () => this.turns(),
    events: () => this.pagesOf<TrailDocument, 'events'>(TRAIL, toRecord, { workspaceId: 1, seq: 1 }),
    usage: () => this.usage(),
  };

  readonly records: RecordStore;

  constructor(protected readonly stores: TransferStores) {
    this.records = stores.records;
  }

  read<Of extends AggregateKind>(kind: Of): Pages<Of> {
    return this.readers[kind]();
  }

  private async *pagesOf<Document, Of extends AggregateKind>(
    name: string,
    toRecord: (document: Document) => Records[Of],
    sort: Record<string, 1> = { _id: 1 },
    fields: object = {},
  ): AsyncGenerator<Records[Of][]> {
    const found = this.stores.model<Document>(name).find({}, fields).sort(sort).lean<Document[]>().cursor();
    yield* inPages(found as AsyncIterable<Document>, async (documents) => documents.map(toRecord));
  }

  /** Only complete blobs. Whether one is loose is checked only where possible. */
  private blobs(): Pages<'blobs'> {
    const isComplete = { state: eq('here' as const) };
    const found = this.stores.blobs
      .find(isComplete, WITHOUT_BYTES)
      .sort({ _id: 1 })
      .lean<BlobHead[]>()
      .cursor();
    return inPages(found as AsyncIterable<BlobHead>, (heads) =>
      Promise.all(
        heads.map(async (head) => {
          const { workspaceId, sha256, size, holder, checkAt, markedAt } = head;
          const isLoose = checkAt !== null && !(await this.stores.bytes.isReferred(head));
          return {
            ...{ workspaceId, sha256, size, holder },
            ...(isLoose ? { looseSince: checkAt, markedAt } : { looseSince: null, markedAt: null }),
            read: () => this.stores.bytes.read(workspaceId, sha256),
          };
        }),
      ),
    );
  }

  /** First those in their collection, then those that are only in their file's document. */
  private async *versions(): Pages<'versions'> {
    yield* this.pagesOf<Records['versions'] & { _id: string }, 'versions'>(
      VERSIONS,
      ({ _id, ...version }) => version,
      { _id: 1 },
    );
    const withFresh = { 'fresh.0': { $exists: true } };
    const found = this.stores.entries
      .find(withFresh, { id: 1, workspaceId: 1, fresh: 1 })
      .lean<Fresh[]>()
      .cursor();
    yield* inPages(
      found as AsyncIterable<Fresh>,
      async (entries) => {
        const versions = entries.flatMap(({ id: fileId, workspaceId, fresh }) =>
          fresh.map((version) => ({ workspaceId, fileId, ...version })),
        );
        const idOf = (version: Records['versions']) =>
          versionId(version.workspaceId, version.fileId, version.number);
        const $in = versions.map(idOf);
        const stored = await this.stores.versions.find({ _id: { $in } }, { _id: 1 }).lean();
        const ids = new Set(stored.map(({ _id }) => _id));
        return versions.filter((version) => !ids.has(idOf(version)));
      },
      50,
    );
  }

  private async *batches(): Pages<'batches'> {
    const found = this.stores.patches
      .find({ whole: eq(true) }, { loose: 1 })
      .sort({ createdAt: 1, _id: 1 })
      .lean();
    for await (const { _id, loose } of found.cursor()) {
      const [workspaceId, batchId] = JSON.parse(_id) as [string, string];
      const record = await this.stores.patchStore.byId(workspaceId, batchId);
      if (record !== null) yield [{ record: JSON.stringify(record), loose }];
    }
  }

  /** In the order of acceptance, one at a time: a turn may have tens of megabytes. */
  private async *turns(): Pages<'turns'> {
    const names = this.stores.turns
      .find({}, { acceptedAt: 1, firstCallId: 1 })
      .sort({ acceptedAt: 1, firstCallId: 1 })
      .lean();
    for await (const { _id } of names.cursor()) {
      const found = await this.stores.turns
        .findOne({ _id: eq(_id) })
        .lean<Omit<TurnDocument, keyof WithOutbox>>();
      if (found === null) continue;
      const turn: Turn = turnFrom(found);
      const values: CallValues[] = [];
      for (const call of found.calls) values.push(await this.valuesOf(call));
      yield [{ ...turn, values }];
    }
  }

  private async valuesOf({
    arguments: callArguments,
    result,
    details,
    edited,
  }: CallEntry): Promise<CallValues> {
    const stored = [callArguments, ...[result, details ?? NONE, edited].filter((value) => value !== NONE)];
    const values = await Promise.all((await this.stores.texts.read(stored)).map(valueOf));
    return {
      arguments: values.shift()!,
      ...(result !== NONE && { result: values.shift()! }),
      ...(details !== null && { details: values.shift()! }),
      ...(edited !== NONE && { editedArguments: values.shift()! }),
    };
  }

  private async *usage(): Pages<'usage'> {
    const found = this.stores.usage.find().lean().cursor();
    for await (const { _id: workspaceId, members, ...all } of found) {
      const nonEmpty = members
        .filter((member) => !isNoUsage(member))
        .sort((one, other) => (one.userId < other.userId ? -1 : 1));
      if (!isNoUsage(all) || nonEmpty.length > 0) yield [{ workspaceId, ...all, members: nonEmpty }];
    }
  }
}

function withoutId({ _id, ...entry }: StoredEntry): StoredEntry {
  return entry as StoredEntry;
}

async function* inPages<From, To>(
  found: AsyncIterable<From>,
  toRecords: (page: From[]) => Promise<To[]>,
  size = PAGE,
): AsyncGenerator<To[]> {
  let page: From[] = [];
  for await (const document of found) {
    page.push(document);
    if (page.length < size) continue;
    yield await toRecords(page);
    page = [];
  }
  if (page.length > 0) yield await toRecords(page);
}
