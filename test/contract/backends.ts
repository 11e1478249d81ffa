import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from '../../src/config/config.module.js';
import { Config, type Settings } from '../../src/config/config.js';
import { AuditStore } from '../../src/storage/ports/audit.store.js';
import { BlobStore } from '../../src/storage/ports/blobs.store.js';
import { ClientStore } from '../../src/storage/ports/clients.store.js';
import { ContractStore } from '../../src/storage/ports/contracts.store.js';
import { FileStore } from '../../src/storage/ports/files.store.js';
import { IdempotencyKeyStore } from '../../src/storage/ports/idempotency-keys.store.js';
import { LoginStore } from '../../src/storage/ports/logins.store.js';
import { PatchStore } from '../../src/storage/ports/patches.store.js';
import { RootStore } from '../../src/storage/ports/roots.store.js';
import { SessionStore } from '../../src/storage/ports/sessions.store.js';
import { StorageHealth } from '../../src/storage/ports/storage-health.js';
import { TurnStore } from '../../src/storage/ports/turns.store.js';
import { UsageStore } from '../../src/storage/ports/usage.store.js';
import { UserStore } from '../../src/storage/ports/users.store.js';
import { WorkspaceStore } from '../../src/storage/ports/workspaces.store.js';
import { StorageModule } from '../../src/storage/storage.module.js';
import { onBadLines } from './faults.js';

/** Every port, as the server gets them. */
export interface Stores {
  audit: AuditStore;
  blobs: BlobStore;
  clients: ClientStore;
  contracts: ContractStore;
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

export interface OpenBackend {
  readonly stores: Stores;
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

const PLAIN: readonly Backend[] = [
  {
    name: 'sqlite',
    async open() {
      const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-contract-'));
      return openBackend({ dataDir }, () => rm(dataDir, { recursive: true }));
    },
  },
];

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

async function openBackend(settings: Partial<Settings>, remove: () => Promise<void>): Promise<OpenBackend> {
  const config = Config.with(settings);
  let app = await start(config);
  let stores = storesOf(app);
  return {
    get stores() {
      return stores;
    },
    async reopen() {
      await app.close();
      app = await start(config);
      stores = storesOf(app);
    },
    async close() {
      await app.close();
      await remove();
    },
  };
}

async function start(config: Config): Promise<INestApplicationContext> {
  @Module({ imports: [ConfigModule.with(config, []), StorageModule] })
  class StorageOnly {}
  return NestFactory.createApplicationContext(StorageOnly, { logger: false, abortOnError: false });
}

/** The stores of a server. */
export function storesOf(app: INestApplicationContext): Stores {
  // The ports are found in whichever module exports them.
  const port = <T>(token: abstract new (...parameters: never[]) => T): T =>
    app.get<T>(token, { strict: false });
  return {
    audit: port(AuditStore),
    blobs: port(BlobStore),
    clients: port(ClientStore),
    contracts: port(ContractStore),
    files: port(FileStore),
    health: port(StorageHealth),
    keys: port(IdempotencyKeyStore),
    logins: port(LoginStore),
    patches: port(PatchStore),
    roots: port(RootStore),
    sessions: port(SessionStore),
    turns: port(TurnStore),
    usage: port(UsageStore),
    users: port(UserStore),
    workspaces: port(WorkspaceStore),
  };
}
