import type { RecordTarget } from '../transfer/store.js';
import type { AggregateKind, Records } from '../transfer/records.js';
import type { PatchBatchRecord } from '../ports/patches.store.js';
import { resultsOf } from '../transfer/results.js';
import { blobId, INLINE_BYTES, ownerOf } from './blobs.js';
import { WORKSPACES } from './collections.js';
import { documentOf, folderOf, locationOf } from './entries.js';
import { ENTRIES, SPELLINGS, VERSIONS } from './file-collections.js';
import { MongoTransferSource } from './transfer-source.js';
import { outboxWith } from './outbox.js';
import { toDocument, TRAIL } from './trail-collections.js';
import { entriesOf, headOf, turnKey } from './turn-documents.js';
import { TurnValues } from './turn-values.js';
import { USAGE } from './usage-collections.js';
import { eq, keyOf } from './values.js';
import { versionId } from './versions.js';

type Document = { _id: string } & Record<string, unknown>;
/** Kinds whose records are one or a few documents each. */
type PlainKind = Exclude<AggregateKind, 'blobs' | 'batches' | 'turns'>;
/** Each document with its collection. */
type Documents = [collection: string, document: Document][];

const WRITE_CONCURRENCY = 4;
/** The generation of every imported blob. */
const GENERATION = 'imported';

const DOCUMENTS: { readonly [Of in PlainKind]: (record: Records[Of]) => Documents } = {
  workspaces: ({ id, ...workspace }) => [[WORKSPACES, { _id: id, ...workspace }]],
  entries: (entry) => {
    const { workspaceId, deletedAt } = entry;
    const document = { ...documentOf(entry), ...locationOf({ ...entry, deletedAt }) };
    return [
      ...(deletedAt === null ? spellingsOf(entry) : []),
      [ENTRIES, { ...document, fresh: [], ...outboxWith(workspaceId, []) }],
    ];
  },
  versions: (version) => [
    [VERSIONS, { _id: versionId(version.workspaceId, version.fileId, version.number), ...version }],
  ],
  events: (event) => [[TRAIL, { ...toDocument(event) }]],
  usage: ({ workspaceId, ...usage }) => [[USAGE, { _id: workspaceId, ...usage }]],
};

function documentsOf<Of extends AggregateKind>(kind: Of): (record: Records[Of]) => Documents {
  const plain: Readonly<Record<string, unknown>> = DOCUMENTS;
  return plain[kind] as (record: Records[Of]) => Documents;
}

/** Writes records into a database that is being filled. */
export class MongoTransferTarget extends MongoTransferSource implements RecordTarget {
  async write<Of extends AggregateKind>(kind: Of, records: readonly Records[Of][]): Promise<void> {
    if (kind === 'blobs')
      return this.concurrently(records as readonly Records['blobs'][], (blob) => this.blob(blob));
    if (kind === 'turns')
      return this.concurrently(records as readonly Records['turns'][], (turn) => this.turn(turn));
    if (kind === 'batches')
      return this.concurrently(records as readonly Records['batches'][], (batch) => this.batch(batch));
    const toDocuments = documentsOf(kind);
    const byCollection = new Map<string, Map<string, Document>>();
    for (const [name, document] of records.flatMap(toDocuments)) {
      const documents = byCollection.get(name) ?? new Map<string, Document>();
      byCollection.set(name, documents.set(document._id, document));
    }
    for (const [name, documents] of byCollection) await this.insertNew(name, [...documents.values()]);
  }

  private insertNew(name: string, documents: readonly Document[]): Promise<void> {
    return this.stores.database.insertNew(this.stores.model<Document>(name), documents);
  }

  private async concurrently<Item>(
    items: readonly Item[],
    work: (item: Item) => Promise<void>,
  ): Promise<void> {
    const iterator = items.values();
    const worker = async () => {
      for (const item of iterator) await work(item);
    };
    await Promise.all(Array.from({ length: WRITE_CONCURRENCY }, worker));
  }

  private async blob({ read, ...blob }: Records['blobs']): Promise<void> {
    const { workspaceId, sha256, size, holder, looseSince: checkAt, markedAt } = blob;
    const _id = blobId(workspaceId, sha256);
    const bytes = (await read())!;
    const isSmall = size <= INLINE_BYTES;
    if (!isSmall) await this.stores.parts.put(ownerOf({ _id, generation: GENERATION }), bytes);
    await this.stores.database.insert(this.stores.blobs, {
      ...{ _id, workspaceId, sha256, size, holder, state: 'here', checkAt, markedAt },
      ...{ revision: 1, generation: GENERATION, bytes: isSmall ? Buffer.from(bytes) : null },
    });
  }

  private async batch({ record, loose }: Records['batches']): Promise<void> {
    const batch = JSON.parse(record) as PatchBatchRecord;
    await this.stores.patchStore.insert(batch);
    if (loose) return;
    const _id = eq(keyOf(batch.workspaceId, batch.batchId));
    await this.stores.database.attempt(() => this.stores.patches.updateOne({ _id }, { $set: { loose } }));
  }

  private async turn({ values, ...turn }: Records['turns']): Promise<void> {
    const { workspaceId, sessionId, turnId, userId, acceptedAt } = turn;
    const { callId: firstCallId } = turn.calls[0]!;
    const texts = new TurnValues(firstCallId);
    const callArguments = values.map((value) => value.arguments);
    const calls = await entriesOf(turn, callArguments, resultsOf(turn, values), texts);
    const _id = turnKey(turn);
    await this.stores.texts.put(_id, texts);
    await this.stores.database.insert(this.stores.turns, {
      ...{ _id, workspaceId, sessionId, turnId, userId, acceptedAt, firstCallId },
      ...{
        ...headOf(turn),
        callCount: calls.length,
        calls,
        texts: texts.pieces.length === 0 ? [] : [texts.name],
      },
      ...{ ...outboxWith(workspaceId, []), outboxBytes: 0 },
    });
  }
}

/** The spellings of an entry's folders, which precede it. */
function spellingsOf({ workspaceId, path, docPath }: Records['entries']): Documents {
  const spellings: Documents = [];
  for (
    let [folder, docFolder] = [folderOf(path), folderOf(docPath)];
    docFolder !== '';
    folder = folderOf(folder), docFolder = folderOf(docFolder)
  ) {
    const _id = keyOf(workspaceId, folder);
    const spelt = {
      workspaceId,
      parent: folderOf(docFolder),
      path: folder,
      docPath: docFolder,
      looseSince: null,
    };
    spellings.push([SPELLINGS, { _id, ...spelt }]);
  }
  return spellings;
}
