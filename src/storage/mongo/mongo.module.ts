import { type DynamicModule, Module } from '@nestjs/common';
import { getConnectionToken, getModelToken, MongooseModule } from '@nestjs/mongoose';
import type { Connection, Model } from 'mongoose';
import { newId } from '../../common/ids.js';
import { AuditStore } from '../ports/audit.store.js';
import { BlobStore } from '../ports/blobs.store.js';
import { FileStore } from '../ports/files.store.js';
import { NodeId } from '../ports/node-id.js';
import { PatchStore } from '../ports/patches.store.js';
import { StorageHealth } from '../ports/storage-health.js';
import { TrailGrowth } from '../ports/trail-growth.js';
import { TurnStore } from '../ports/turns.store.js';
import { UsageCounts, UsageStore } from '../ports/usage.store.js';
import { WorkspaceStore } from '../ports/workspaces.store.js';
import { RecordStore } from '../records/record-store.js';
import { RECORD_PORTS } from '../records/records.js';
import { MongoAuditStore } from './audit.store.js';
import { Blobs } from './blobs.js';
import { MongoBlobStore } from './blobs.store.js';
import { COLLECTIONS } from './collections.js';
import { CONNECT_OPTIONS, MongoDatabase } from './database.js';
import { EntryWrites } from './entry-writes.js';
import { MongoFileStore } from './files.store.js';
import { FolderSpellings } from './folder-spellings.js';
import { MongoHealth } from './health.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { OpenTurnQueries } from './open-turn-queries.js';
import { refuseHalfImported } from './importing.js';
import { OrphanSweep } from './orphan-sweep.js';
import { OUTBOX_INDEX } from './outbox.js';
import { Members } from './members.js';
import { type OutboxDocument, Outboxes } from './outboxes.js';
import { Parts } from './parts.js';
import { MongoPatchStore } from './patches.store.js';
import { Projector } from './projector.js';
import { waitForConnection } from './reached.js';
import { MongoRecordStore } from './record-store.js';
import { Trail } from './trail.js';
import { TurnTexts } from './turn-texts.js';
import { MongoTurnStore } from './turns.store.js';
import { UsageCounter } from './usage-counter.js';
import { MongoUsageStore } from './usage.store.js';
import { Versions } from './versions.js';
import { MongoWorkspaceStore } from './workspaces.store.js';

const PORTS = [
  { provide: AuditStore, useClass: MongoAuditStore },
  { provide: BlobStore, useClass: MongoBlobStore },
  // A new id for each start: leases of a dead process expire.
  { provide: NodeId, useFactory: () => new NodeId(newId()) },
  { provide: FileStore, useClass: MongoFileStore },
  { provide: PatchStore, useClass: MongoPatchStore },
  { provide: StorageHealth, useClass: MongoHealth },
  { provide: TrailGrowth, useExisting: Projector },
  { provide: TurnStore, useClass: MongoTurnStore },
  { provide: UsageStore, useClass: MongoUsageStore },
  { provide: WorkspaceStore, useClass: MongoWorkspaceStore },
];

/**
 * The storage ports on MongoDB. The layout, declared in `collections.ts`:
 *
 * - One aggregate is one document, written by one insert or one conditional update; no write spans two. The `_id` is a
 *   unique id, or combines its parts by `keyOf`. Emails, numbers in a trail and places of entries have unique indexes.
 * - Small records: a collection for each declaration in `storage/records`, with the key as `_id`.
 * - `workspaces` by id, with their members in order and unsettled removals. The readiness probe writes `checks`.
 * - `turns` by workspace, session and turnId, with their calls, small arguments and results, and the names of the
 *   `turn_texts` with larger ones.
 * - `entries` by workspace and id: files with their last versions, and created folders. `versions`: older ones, by file
 *   and number. `folder_spellings`: possible implied folders. `blobs` by workspace and hash; long ones in `parts`.
 *   `usage` by workspace, counted after the writes.
 * - Values with arbitrary keys, such as schemas, are JSON in a text, so that they are returned unchanged.
 * - Aggregates with audit events write them to their array `outbox` in the same update: drafts with their eventId,
 *   oldest first. `audit_events` by eventId is the trail. The projector assigns each event the next `seq` of its
 *   workspace, unique by (workspaceId, seq), and then removes it from the outbox. It reads every collection with
 *   `OUTBOX_INDEX`.
 */
@Module({})
export class MongoStorageModule {
  /** Connects to the database of the URI. The connection is opened at boot and closed last. */
  static on(uri: string): DynamicModule {
    const models = COLLECTIONS.map(({ name, schema }) => ({ name, schema, collection: name }));
    const sources = COLLECTIONS.filter(({ indexes }) => indexes.includes(OUTBOX_INDEX)).map(({ name }) =>
      getModelToken(name),
    );
    return {
      module: MongoStorageModule,
      imports: [
        // `waitForConnection` waits for the connection, and reports what is wrong with it.
        MongooseModule.forRoot(uri, { ...CONNECT_OPTIONS, lazyConnection: true }),
        MongooseModule.forFeature(models),
      ],
      providers: [
        {
          provide: MongoDatabase,
          inject: [getConnectionToken()],
          useFactory: (connection: Connection) => opened(connection, uri),
        },
        Blobs,
        EntryWrites,
        FolderSpellings,
        KnownWorkspaces,
        Members,
        {
          provide: Outboxes,
          inject: [MongoDatabase, TurnTexts, ...sources],
          useFactory: (database: MongoDatabase, texts: TurnTexts, ...models: Model<OutboxDocument>[]) =>
            new Outboxes(database, models, texts),
        },
        Parts,
        OpenTurnQueries,
        OrphanSweep,
        Projector,
        Trail,
        TurnTexts,
        UsageCounter,
        Versions,
        { provide: UsageCounts, useExisting: UsageCounter },
        {
          provide: RecordStore,
          inject: [MongoDatabase, KnownWorkspaces, Members, getConnectionToken()],
          useFactory: (...parts: ConstructorParameters<typeof MongoRecordStore>) =>
            new MongoRecordStore(...parts),
        },
        ...RECORD_PORTS,
        ...PORTS,
      ],
      exports: [...RECORD_PORTS, ...PORTS.map(({ provide }) => provide)],
    };
  }
}

async function opened(connection: Connection, uri: string): Promise<MongoDatabase> {
  await waitForConnection(connection, uri);
  await refuseHalfImported(connection);
  return MongoDatabase.open(connection);
}
