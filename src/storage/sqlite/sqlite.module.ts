import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import { map } from 'rxjs';
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
import { SqliteAuditStore } from './audit.store.js';
import { SqliteBlobStore } from './blobs.store.js';
import { SqliteDatabase } from './database.js';
import { SqliteFileStore } from './files.store.js';
import { SqliteHealth } from './health.js';
import { SqlitePatchStore } from './patches.store.js';
import { SqliteRecordStore } from './record-store.js';
import { SqliteTurnStore } from './turns.store.js';
import { SqliteUsageCounts, SqliteUsageStore } from './usage.store.js';
import { SqliteWorkspaceStore } from './workspaces.store.js';
import { WorkspaceKeys } from './workspace-keys.js';

/** The storage ports on the embedded store. */
@Module({})
export class SqliteStorageModule implements OnApplicationShutdown {
  constructor(private readonly database: SqliteDatabase) {}

  /** Stores data in the data directory, which is opened at boot and closed last. One process holds it at a time. */
  static on(dataDir: string): DynamicModule {
    const ports = [
      { provide: NodeId, useValue: new NodeId('embedded') },
      { provide: AuditStore, useClass: SqliteAuditStore },
      { provide: BlobStore, useClass: SqliteBlobStore },
      { provide: FileStore, useClass: SqliteFileStore },
      { provide: PatchStore, useClass: SqlitePatchStore },
      { provide: StorageHealth, useClass: SqliteHealth },
      {
        provide: TrailGrowth,
        inject: [SqliteDatabase, WorkspaceKeys],
        useFactory: ({ grown$ }: SqliteDatabase, keys: WorkspaceKeys): TrailGrowth => ({
          workspaces$: grown$.pipe(map((key) => keys.idOf(key))),
        }),
      },
      { provide: TurnStore, useClass: SqliteTurnStore },
      { provide: UsageStore, useClass: SqliteUsageStore },
      { provide: WorkspaceStore, useClass: SqliteWorkspaceStore },
    ];
    return {
      module: SqliteStorageModule,
      providers: [
        { provide: SqliteDatabase, useFactory: () => SqliteDatabase.open(dataDir) },
        WorkspaceKeys,
        { provide: RecordStore, useClass: SqliteRecordStore },
        { provide: UsageCounts, useClass: SqliteUsageCounts },
        ...RECORD_PORTS,
        ...ports,
      ],
      exports: [...RECORD_PORTS, ...ports.map(({ provide }) => provide)],
    };
  }

  /** The last of Nest's hooks: requests and sockets end in `onModuleDestroy` and after it. */
  onApplicationShutdown(): void {
    this.database.close();
  }
}
