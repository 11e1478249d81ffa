import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { AuditStore } from './ports/audit.store.js';
import { BlobStore } from './ports/blobs.store.js';
import { ClientStore } from './ports/clients.store.js';
import { ContractStore } from './ports/contracts.store.js';
import { FileStore } from './ports/files.store.js';
import { IdempotencyKeyStore } from './ports/idempotency-keys.store.js';
import { LoginStore } from './ports/logins.store.js';
import { NodeId } from './ports/node-id.js';
import { PatchStore } from './ports/patches.store.js';
import { RootStore } from './ports/roots.store.js';
import { SessionStore } from './ports/sessions.store.js';
import { StorageHealth } from './ports/storage-health.js';
import { TurnStore } from './ports/turns.store.js';
import { UsageStore } from './ports/usage.store.js';
import { UserStore } from './ports/users.store.js';
import { WorkspaceStore } from './ports/workspaces.store.js';
import { SqliteAuditStore } from './sqlite/audit.store.js';
import { SqliteBlobStore } from './sqlite/blobs.store.js';
import { SqliteClientStore } from './sqlite/clients.store.js';
import { SqliteContractStore } from './sqlite/contracts.store.js';
import { SqliteDatabase } from './sqlite/database.js';
import { SqliteFileStore } from './sqlite/files.store.js';
import { SqliteHealth } from './sqlite/health.js';
import { SqliteIdempotencyKeyStore } from './sqlite/idempotency-keys.store.js';
import { SqliteLoginStore } from './sqlite/logins.store.js';
import { SqlitePatchStore } from './sqlite/patches.store.js';
import { SqliteRootStore } from './sqlite/roots.store.js';
import { SqliteSessionStore } from './sqlite/sessions.store.js';
import { SqliteTurnStore } from './sqlite/turns.store.js';
import { SqliteUsageStore } from './sqlite/usage.store.js';
import { SqliteUserStore } from './sqlite/users.store.js';
import { SqliteWorkspaceStore } from './sqlite/workspaces.store.js';
import { WorkspaceKeys } from './sqlite/workspace-keys.js';

/** Chooses the backend behind the storage ports, opens it at boot and closes it last. */
@Module({
  providers: [
    {
      provide: SqliteDatabase,
      inject: [Config],
      useFactory: (config: Config) => SqliteDatabase.open(config.dataDir),
    },
    WorkspaceKeys,
    { provide: NodeId, useValue: new NodeId('embedded') },
    { provide: AuditStore, useClass: SqliteAuditStore },
    { provide: BlobStore, useClass: SqliteBlobStore },
    { provide: ClientStore, useClass: SqliteClientStore },
    { provide: ContractStore, useClass: SqliteContractStore },
    { provide: FileStore, useClass: SqliteFileStore },
    { provide: IdempotencyKeyStore, useClass: SqliteIdempotencyKeyStore },
    { provide: LoginStore, useClass: SqliteLoginStore },
    { provide: PatchStore, useClass: SqlitePatchStore },
    { provide: RootStore, useClass: SqliteRootStore },
    { provide: SessionStore, useClass: SqliteSessionStore },
    { provide: StorageHealth, useClass: SqliteHealth },
    { provide: TurnStore, useClass: SqliteTurnStore },
    { provide: UsageStore, useClass: SqliteUsageStore },
    { provide: UserStore, useClass: SqliteUserStore },
    { provide: WorkspaceStore, useClass: SqliteWorkspaceStore },
  ],
  exports: [
    AuditStore,
    BlobStore,
    ClientStore,
    ContractStore,
    FileStore,
    IdempotencyKeyStore,
    LoginStore,
    NodeId,
    PatchStore,
    RootStore,
    SessionStore,
    StorageHealth,
    TurnStore,
    UsageStore,
    UserStore,
    WorkspaceStore,
  ],
})
export class StorageModule implements OnApplicationShutdown {
  constructor(private readonly database: SqliteDatabase) {}

  /** The last of Nest's hooks: by now requests and sockets have ended, in `onModuleDestroy` and after it. */
  onApplicationShutdown(): void {
    this.database.close();
  }
}
