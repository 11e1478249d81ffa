import mongoose, { type Connection, type Model } from 'mongoose';
import { Blobs } from './blobs.js';
import { type WorkspaceDocument, WORKSPACES } from './collections.js';
import { COLLECTIONS } from './collections.js';
import { CONNECT_OPTIONS, MongoDatabase } from './database.js';
import { type BlobDocument, BLOBS, type EntryDocument, ENTRIES } from './file-collections.js';
import { type VersionDocument, VERSIONS } from './file-collections.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { OUTBOX_INDEX } from './outbox.js';
import { Members } from './members.js';
import { type OutboxDocument, Outboxes } from './outboxes.js';
import { type PartDocument, PARTS } from './part-collections.js';
import { Parts } from './parts.js';
import { type PatchDocument, PATCHES, PATCH_IDS, type PatchIdsDocument } from './patch-collections.js';
import { MongoPatchStore } from './patches.store.js';
import { Projector } from './projector.js';
import { TRAIL, type TrailDocument } from './trail-collections.js';
import { waitForConnection } from './reached.js';
import { MongoRecordStore } from './record-store.js';
import { Trail } from './trail.js';
import { TURN_TEXTS, type TurnDocument, TURNS, type TurnTextDocument } from './turn-collections.js';
import { TurnTexts } from './turn-texts.js';
import { type UsageDocument, USAGE } from './usage-collections.js';
import { UsageCounter } from './usage-counter.js';

/** What the stores are created from. */
class OpenedDatabase {
  protected constructor(
    readonly connection: Connection,
    readonly database: MongoDatabase,
  ) {}

  model<Document>(name: string): Model<Document> {
    return this.connection.model<Document>(name);
  }
}

/** The stores of a database without a server: what export, import and check need, and no background work. */
export class TransferStores extends OpenedDatabase {
  readonly entries = this.model<EntryDocument>(ENTRIES);
  readonly versions = this.model<VersionDocument>(VERSIONS);
  readonly blobs = this.model<BlobDocument>(BLOBS);
  readonly turns = this.model<TurnDocument>(TURNS);
  readonly patches = this.model<PatchDocument>(PATCHES);
  readonly usage = this.model<UsageDocument>(USAGE);
  readonly trail = this.model<TrailDocument>(TRAIL);

  readonly parts = new Parts(this.database, this.model<PartDocument>(PARTS));
  readonly texts = new TurnTexts(this.database, this.model<TurnTextDocument>(TURN_TEXTS), this.turns);
  readonly bytes = new Blobs(
    this.database,
    this.parts,
    new UsageCounter(this.database, this.usage),
    this.blobs,
    this.entries,
    this.versions,
  );
  private readonly workspaces = new KnownWorkspaces(this.database, this.model<WorkspaceDocument>(WORKSPACES));
  private readonly members = new Members(this.database, this.model<WorkspaceDocument>(WORKSPACES));
  readonly records = new MongoRecordStore(this.database, this.workspaces, this.members, this.connection);
  readonly patchStore = new MongoPatchStore(
    this.database,
    this.workspaces,
    this.parts,
    this.patches,
    this.model<PatchIdsDocument>(PATCH_IDS),
    this.turns,
  );

  static async connect(uri: string): Promise<Connection> {
    const connection = mongoose.createConnection(uri, CONNECT_OPTIONS);
    await waitForConnection(connection, uri);
    return connection;
  }

  /** Creates what is missing in the database; closes the connection if anything differs. */
  static async open(connection: Connection): Promise<TransferStores> {
    for (const { name, schema } of COLLECTIONS) connection.model(name, schema, name);
    return new TransferStores(connection, await MongoDatabase.open(connection));
  }

  /** Wraps a database without creating anything in it. */
  static asItIs(connection: Connection): TransferStores {
    for (const { name, schema } of COLLECTIONS) connection.model(name, schema, name);
    return new TransferStores(connection, MongoDatabase.withoutSetup());
  }

  /** Projects the events that servers left in outboxes. */
  async settle(): Promise<void> {
    const { database } = this;
    const sources = COLLECTIONS.filter(({ indexes }) => indexes.includes(OUTBOX_INDEX)).map(({ name }) =>
      this.model<OutboxDocument>(name),
    );
    const outboxes = new Outboxes(database, sources, this.texts);
    const projector = new Projector(outboxes, new Trail(database, this.trail));
    for (let waiting; (waiting = await outboxes.workspacesWaiting(1)).size > 0;)
      for (const workspaceId of waiting) await projector.drain(workspaceId);
  }
}
