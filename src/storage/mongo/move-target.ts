import { createHash } from 'node:crypto';
import type { MoveTarget } from '../move/move.js';
import { type Kind, MoveError, type Records } from '../move/records.js';
import type { PatchBatchRecord } from '../ports/patches.store.js';
import { resultsOf } from '../move/results.js';
import { blobId, INLINE_BYTES, ownerOf } from './blobs.js';
import {
  CLIENTS,
  CONTRACTS,
  FIRST_USER,
  KEYS,
  LOGINS,
  ROOTS,
  SESSIONS,
  USERS,
  WORKSPACES,
} from './collections.js';
import { documentOf, folderOf, placed } from './entries.js';
import { ENTRIES, SPELLINGS, VERSIONS } from './file-collections.js';
import { MongoMoveSource } from './move-source.js';
import { outboxWith } from './outbox.js';
import { TRAIL } from './trail-collections.js';
import { entriesOf, headOf, turnKey } from './turn-documents.js';
import { TurnValues } from './turn-values.js';
import { USAGE } from './usage-collections.js';
import { eq, keyOf } from './values.js';
import { versionId } from './versions.js';

type Document = { _id: string } & Record<string, unknown>;

/** Kinds of which each is a document, or some. */
type PlainKind = Exclude<Kind, 'blobs' | 'batches' | 'turns'>;
/** Of which collection each document is. */
type Documents = [collection: string, document: Document][];

const WRITTEN_AT_ONCE = 4;
/** Names the bytes of every blob that was moved: the same ones when the move is repeated. */
const GENERATION = 'moved';

const DOCUMENTS: { readonly [Of in PlainKind]: (record: Records[Of]) => Documents } = {
  users: ({ id, ...user }) => [[USERS, { _id: id, ...user }]],
  logins: ({ id, ...login }) => [[LOGINS, { _id: id, ...login }]],
  workspaces: ({ id, ...workspace }) => [[WORKSPACES, { _id: id, ...workspace }]],
  contracts: ({ digest, contract }) => [[CONTRACTS, { _id: digest, contract }]],
  sessions: ({ activeFiles, ...session }) => {
    const { workspaceId, id } = session;
    const activeBytes = Buffer.byteLength(activeFiles ?? '');
    const counted = { activeFiles: activeFiles ?? '[]', activeBytes };
    return [[SESSIONS, { _id: keyOf(workspaceId, id), ...session, ...counted }]];
  },
  clients: (client) => {
    const _id = keyOf(client.workspaceId, client.userId, client.clientId);
    return [[CLIENTS, { _id, ...client, seenAt: client.leftAt ?? client.until, revision: 1 }]];
  },
  roots: (root) => [[ROOTS, { _id: keyOf(root.workspaceId, root.docPath), ...root }]],
  keys: (key) => [[KEYS, { _id: keyOf(key.workspaceId, key.userId, key.key), ...key }]],
  entries: (entry) => {
    const { workspaceId, deletedAt } = entry;
    const document = { ...documentOf(entry), ...placed({ ...entry, deletedAt }) };
    return [
      ...(deletedAt === null ? spellingsOf(entry) : []),
      [ENTRIES, { ...document, fresh: [], ...outboxWith(workspaceId, []) }],
    ];
  },
  versions: (version) => [
    [VERSIONS, { _id: versionId(version.workspaceId, version.fileId, version.number), ...version }],
  ],
  events: ({ eventId, ...event }) => [[TRAIL, { _id: eventId, ...event }]],
  usage: ({ workspaceId, ...usage }) => [[USAGE, { _id: workspaceId, ...usage }]],
};

/** A database that is being filled; what it has already stays. */
export class MongoMoveTarget extends MongoMoveSource implements MoveTarget {
  async write<Of extends Kind>(kind: Of, records: readonly Records[Of][]): Promise<void> {
    if (kind === 'blobs')
      return this.inLines(records as readonly Records['blobs'][], (blob) => this.blob(blob));
    if (kind === 'turns')
      return this.inLines(records as readonly Records['turns'][], (turn) => this.turn(turn));
    if (kind === 'batches')
      return this.inLines(records as readonly Records['batches'][], (batch) => this.batch(batch));
    const documentsOf: Readonly<Record<string, unknown>> = DOCUMENTS;
    const toDocuments = documentsOf[kind] as (record: Records[Of]) => Documents;
    const byCollection = new Map<string, Map<string, Document>>();
    for (const [name, document] of records.flatMap(toDocuments)) {
      const documents = byCollection.get(name) ?? new Map<string, Document>();
      byCollection.set(name, documents.set(document._id, document));
    }
    for (const [name, documents] of byCollection) await this.insertNew(name, [...documents.values()]);
    if (kind === 'users') await this.first((records as readonly Records['users'][])[0]!);
  }

  private insertNew(name: string, documents: readonly Document[]): Promise<void> {
    return this.rooms.database.insertNew(this.rooms.model<Document>(name), documents);
  }

  private async inLines<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
    const left = items.values();
    const line = async () => {
      for (const item of left) await work(item);
    };
    await Promise.all(Array.from({ length: WRITTEN_AT_ONCE }, line));
  }

  /** Nobody can register as the first any more. It stays whoever comes first here. */
  private first({ id: userId, ...user }: Records['users']): Promise<void> {
    return this.insertNew(FIRST_USER, [{ _id: 'first', userId, ...user }]);
  }

  private async blob({ read, ...blob }: Records['blobs']): Promise<void> {
    const { workspaceId, sha256, size, holder, looseSince: checkAt, markedAt } = blob;
    const _id = blobId(workspaceId, sha256);
    const known = await this.rooms.database.attempt(() =>
      this.rooms.blobs.findOne({ _id: eq(_id) }, { _id: 1 }).lean(),
    );
    if (known !== null) return;
    const bytes = await read();
    if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new MoveError(
        `The bytes of ${sha256} in the workspace ${workspaceId} are damaged where they are.`,
      );
    const isSmall = size <= INLINE_BYTES;
    if (!isSmall) await this.rooms.parts.put(ownerOf({ _id, generation: GENERATION }), bytes);
    await this.rooms.database.insert(this.rooms.blobs, {
      ...{ _id, workspaceId, sha256, size, holder, state: 'here', checkAt, markedAt },
      ...{ revision: 1, generation: GENERATION, bytes: isSmall ? Buffer.from(bytes) : null },
    });
  }

  private async batch({ record, loose }: Records['batches']): Promise<void> {
    const batch = JSON.parse(record) as PatchBatchRecord;
    await this.rooms.patchStore.insert(batch);
    if (loose) return;
    const _id = eq(keyOf(batch.workspaceId, batch.batchId));
    await this.rooms.database.attempt(() => this.rooms.patches.updateOne({ _id }, { $set: { loose } }));
  }

  private async turn({ values, ...turn }: Records['turns']): Promise<void> {
    const { workspaceId, sessionId, turnId, userId, acceptedAt } = turn;
    const { callId: firstCallId } = turn.calls[0]!;
    const texts = new TurnValues(firstCallId);
    const callArguments = values.map((value) => value.arguments);
    const calls = await entriesOf(turn, callArguments, resultsOf(turn, values), texts);
    const _id = turnKey(turn);
    await this.rooms.texts.put(_id, texts);
    await this.rooms.database.insert(this.rooms.turns, {
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

/** Of the folders on its path, before what is live there. */
function spellingsOf({ workspaceId, path, docPath }: Records['entries']): Documents {
  const spellings: Documents = [];
  for (let [at, of] = [folderOf(path), folderOf(docPath)]; of !== ''; at = folderOf(at), of = folderOf(of)) {
    const _id = keyOf(workspaceId, at);
    const spelt = { workspaceId, parent: folderOf(of), path: at, docPath: of, looseSince: null };
    spellings.push([SPELLINGS, { _id, ...spelt }]);
  }
  return spellings;
}
