import 'reflect-metadata';
import { rm } from 'node:fs/promises';
import { type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuditStore } from '../../src/storage/ports/audit.store.js';
import { BlobStore } from '../../src/storage/ports/blobs.store.js';
import { ClientStore } from '../../src/storage/records/clients.js';
import { ContractStore } from '../../src/storage/records/contracts.js';
import { FileStore } from '../../src/storage/ports/files.store.js';
import { FileRequestStore } from '../../src/storage/records/file-requests.js';
import { IdempotencyKeyStore } from '../../src/storage/records/idempotency-keys.js';
import { LoginStore } from '../../src/storage/records/logins.js';
import { PatchStore } from '../../src/storage/ports/patches.store.js';
import { RootStore } from '../../src/storage/records/roots.js';
import { SessionStore } from '../../src/storage/records/sessions.js';
import { StorageHealth } from '../../src/storage/ports/storage-health.js';
import { TrailGrowth } from '../../src/storage/ports/trail-growth.js';
import { TurnStore } from '../../src/storage/ports/turns.store.js';
import { UsageStore } from '../../src/storage/ports/usage.store.js';
import { UserStore } from '../../src/storage/records/users.js';
import { WorkspaceStore } from '../../src/storage/ports/workspaces.store.js';
import { SqliteStorageModule } from '../../src/storage/sqlite/sqlite.module.js';
import { newDataDirectory } from '../support/data-directory.js';
import { aDatabaseOn, MONGO_SERVER } from '../support/mongo-server.js';
import { onBadLines } from './faults.js';

/** Every port, as the server gets them. */
export interface Stores {
  audit: AuditStore;
  blobs: BlobStore;
  clients: ClientStore;
  contracts: ContractStore;
  fileRequests: FileRequestStore;
  files: FileStore;
  health: StorageHealth;
  keys: IdempotencyKeyStore;
  logins: LoginStore;
  patches: PatchStore;
  roots: RootStore;
  sessions: SessionStore;
  turns: TurnStore;
  usage: UsageStore;
  users: UserStore;
  workspaces: WorkspaceStore;
}

const TOKENS: { [Port in keyof Stores]: abstract new (...parameters: never[]) => Stores[Port] } = {
  audit: AuditStore,
  blobs: BlobStore,
  clients: ClientStore,
  contracts: ContractStore,
  fileRequests: FileRequestStore,
  files: FileStore,
  health: StorageHealth,
  keys: IdempotencyKeyStore,
  logins: LoginStore,
  patches: PatchStore,
  roots: RootStore,
  sessions: SessionStore,
  turns: TurnStore,
  usage: UsageStore,
  users: UserStore,
  workspaces: WorkspaceStore,
};

export interface OpenBackend {
  readonly stores: Stores;
  readonly growth: TrailGrowth;
  /** Stops and starts the server on the same data; `stores` are new ones then. */
  reopen(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

export interface Backend {
  name: string;
  /** A new, empty store. */
  open(): Promise<OpenBackend>;
}

const PLAIN: Backend[] = [
  {
    name: 'sqlite',
    async open() {
      const dataDir = await newDataDirectory();
      return openBackend(SqliteStorageModule.on(dataDir), () => rm(dataDir, { recursive: true }));
    },
  },
];

if (MONGO_SERVER !== undefined) {
  PLAIN.push({
    name: 'mongo',
    async open() {
      const { uri, drop } = aDatabaseOn(MONGO_SERVER!);
      // Loaded by whoever uses it: most specs need no more than the stores of a server.
      const { MongoStorageModule } = await import('../../src/storage/mongo/mongo.module.js');
      return openBackend(MongoStorageModule.on(uri), drop);
    },
  });
}

/** Another one gives the calls other delays, so that a test which failed once can be made to fail again. */
const SEED = Number(process.env.FAULT_SEED ?? 1);

/** What every contract test runs against: each backend as it is, and as it is at the far end of a bad line. */
export const BACKENDS = PLAIN.flatMap((backend) => [backend, onBadLines(backend, SEED)]);

/** The tests of one port, once for each backend, on a store of their own. */
export function describeContract(port: string, tests: (opened: () => OpenBackend) => void): void {
  describe.each(BACKENDS)(`$name: ${port}`, (backend) => {
    let opened: OpenBackend;
    beforeAll(async () => {
      opened = await backend.open();
    });
    afterAll(() => opened.close());
    tests(() => opened);
  });
}

async function openBackend(storage: DynamicModule, remove: () => Promise<void>): Promise<OpenBackend> {
  let app = await start(storage);
  let stores = storesOf(app);
  return {
    get stores() {
      return stores;
    },
    get growth() {
      return app.get(TrailGrowth, { strict: false });
    },
    async reopen() {
      await app.close();
      app = await start(storage);
      stores = storesOf(app);
    },
    async close() {
      await app.close();
      await remove();
    },
  };
}

function start(storage: DynamicModule): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(storage, { logger: false, abortOnError: false });
}

/** The stores of a server. */
export function storesOf(app: INestApplicationContext): Stores {
  // The ports are found in whichever module exports them.
  const found = Object.entries(TOKENS).map(([port, token]) => [
    port,
    app.get<object>(token, { strict: false }),
  ]);
  return Object.fromEntries(found) as Stores;
}
