// Port methods a second, one at a time and 16 at once, on the embedded store and, where PATCHBAY_TEST_MONGODB_URI names a
// server, on MongoDB beside it: npm run bench:storage
//
// The backends take turns, method by method, so that both meet the same noise. SECONDS (per method and level, default 0.5).
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../src/common/ids.js';
import { AuditStore } from '../src/storage/ports/audit.store.js';
import { BlobStore } from '../src/storage/ports/blobs.store.js';
import { ClientStore } from '../src/storage/records/clients.js';
import { FileStore } from '../src/storage/ports/files.store.js';
import { IdempotencyKeyStore } from '../src/storage/records/idempotency-keys.js';
import { LoginStore } from '../src/storage/records/logins.js';
import { PatchStore } from '../src/storage/ports/patches.store.js';
import { RootStore } from '../src/storage/records/roots.js';
import { SessionStore } from '../src/storage/records/sessions.js';
import { TurnStore } from '../src/storage/ports/turns.store.js';
import { UsageStore } from '../src/storage/ports/usage.store.js';
import { UserStore } from '../src/storage/records/users.js';
import { WorkspaceStore } from '../src/storage/ports/workspaces.store.js';
import { SqliteStorageModule } from '../src/storage/sqlite/sqlite.module.js';
import { aTurn, completed, NOON } from '../src/turns/state/turn.sample.js';
import { aFile, aVersion, bytesOf, moved, withHead } from '../test/contract/file-records.js';
import { aBatch } from '../test/contract/patch-records.js';
import { anEvent, aUser, aWorkspace } from '../test/contract/records.js';

const SECONDS = Number(process.env.SECONDS ?? 0.5);
const AT_ONCE = [1, 16];
const RESULT = { success: true, path: 'docs/a.md', sizeBytes: 1000 };

type Method = () => Promise<unknown>;

/** A method of every kind that a request meets, each on records of its own where it writes. */
async function methodsOf(app: INestApplicationContext): Promise<{ [name: string]: Method }> {
  const port = <T>(token: abstract new (...parameters: never[]) => T): T =>
    app.get<T>(token, { strict: false });
  const [turns, files, blobs, audit] = [port(TurnStore), port(FileStore), port(BlobStore), port(AuditStore)];
  const [users, sessions, clients, logins] = [
    port(UserStore),
    port(SessionStore),
    port(ClientStore),
    port(LoginStore),
  ];
  const [workspaces, patches, roots, usage] = [
    port(WorkspaceStore),
    port(PatchStore),
    port(RootStore),
    port(UsageStore),
  ];
  const keys = port(IdempotencyKeyStore);
  const [workspace, user] = [aWorkspace(), aUser()];
  const { id: workspaceId, members } = workspace;
  const who = { workspaceId, userId: members[0]!.userId };
  const text = 'x'.repeat(1000);
  await workspaces.insert(workspace);
  await users.insert(user);

  const event = (): ReturnType<typeof anEvent> => anEvent({ sessionId: 'session', turnId: newId() });
  const insertTurn = async () => {
    const turn = aTurn(workspaceId, { turnId: newId(), userId: who.userId });
    await turns.insert(turn, [{ path: 'docs/a.md', content: text }], [], [event(), event()]);
    return turn;
  };
  const author = who.userId;
  const newFile = () =>
    aFile(workspaceId, `/docs/${newId()}.md`, '', { head: aVersion(newId(), { author }) });
  const insertFile = async () => {
    const file = newFile();
    await files.insert(file, bytesOf(text), [event()]);
    return file;
  };
  const session = () => ({
    ...{ id: newId(), conversationId: newId(), userId: who.userId, workspaceId },
    ...{ clientId: null, tools: null, createdAt: NOON },
  });
  const client = () => ({
    ...{
      ...who,
      clientId: 'editor',
      name: 'Editor',
      roots: [],
      tools: [],
      epoch: Date.now(),
      connectionId: newId(),
    },
    ...{ node: 'bench', connectedAt: NOON, until: NOON + 90 },
  });
  const login = () => ({
    ...{ id: newId(), userId: user.id, familyHash: 'f', tokenHash: 't', previousHash: null, seed: null },
    ...{ rotatedAt: NOON, expiresAt: NOON + 100, createdAt: NOON },
  });

  const [turn, file, known] = [await insertTurn(), await insertFile(), session()];
  const batch = aBatch(turn);
  const hash = sha256(text);
  await sessions.insert(known);
  await patches.insert(batch);
  await blobs.put(who, hash, bytesOf(text), NOON);
  await clients.connected(client());
  return {
    'turns.insert': insertTurn,
    'turns.insert, save': async () => {
      const open = await insertTurn();
      const result = { callId: open.calls[0]!.callId, result: RESULT };
      await turns.save(open, completed(open), [result], [event(), event()]);
    },
    'turns.find': () => turns.find(turn),
    'turns.argumentsOf': () => turns.argumentsOf(turn),
    'turns.resultsOf': () => turns.resultsOf(turn),
    'turns.openVersionsOf': () => turns.openVersionsOf([{ workspaceId, userId: 'nobody' }]),
    'turns.openOfUser': () => turns.openOfUser(who.userId),
    'turns.dueBefore': () => turns.dueBefore(NOON - 1e9, 10),
    'turns.lastUseOf': () => turns.lastUseOf(workspaceId, turn.sessionId),
    'files.insert': insertFile,
    'files.insert, commitVersion': async () => {
      const made = await insertFile();
      await files.commitVersion(withHead(made, newId(), { author }), made.revision, bytesOf(text), [event()]);
    },
    'files.insert, save': async () => {
      const made = await insertFile();
      await files.save(moved(made, { deletedAt: NOON }), made.revision, [event()]);
    },
    'files.at': () => files.at(workspaceId, file.docPath),
    'files.byId': () => files.byId(workspaceId, file.id),
    'files.versionsOf': () => files.versionsOf(workspaceId, file.id, null, 10),
    'files.childrenOf': () => files.childrenOf(workspaceId, 'docs', null, 100),
    'blobs.put': () => blobs.put(who, sha256(newId()), bytesOf(text), NOON),
    'blobs.read': () => blobs.read(workspaceId, hash),
    'audit.page': () => audit.page(workspaceId, {}, 0, 100),
    'patches.insert': () => patches.insert(aBatch(turn)),
    'patches.byId': () => patches.byId(workspaceId, batch.batchId),
    'usage.ofWorkspace': () => usage.ofWorkspace(workspaceId),
    'sessions.insert': () => sessions.insert(session()),
    'sessions.byId': () => sessions.byId(workspaceId, known.id),
    'clients.connected': () => clients.connected(client()),
    'clients.ofUser': () => clients.ofUser(workspaceId, who.userId, 100),
    'keys.claim': () =>
      keys.claim({ ...who, key: newId(), sessionId: 's', turnId: newId(), claimedAt: NOON }, 0),
    'logins.insert': () => logins.insert(login()),
    'roots.ofWorkspace': () => roots.ofWorkspace(workspaceId),
    'users.byId': () => users.byId(user.id),
    'workspaces.roleOf': () => workspaces.roleOf(workspaceId, who.userId),
  };
}

async function rate(method: Method, atOnce: number): Promise<number> {
  const started = performance.now();
  let done = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - started < SECONDS * 1000) {
      await method();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return (done / (performance.now() - started)) * 1000;
}

const directory = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
const open = (module: Parameters<typeof NestFactory.createApplicationContext>[0]) =>
  NestFactory.createApplicationContext(module, { logger: ['error', 'warn'], abortOnError: false });
const apps = [await open(SqliteStorageModule.on(directory))];
const { PATCHBAY_TEST_MONGODB_URI: server } = process.env;
if (server) {
  const [, hosts, options] = /^([^/]+\/\/[^/?]+)[^?]*(.*)$/.exec(server)!;
  const { MongoStorageModule } = await import('../src/storage/mongo/mongo.module.js');
  apps.push(await open(MongoStorageModule.on(`${hosts}/patchbay-bench-${process.pid}${options}`)));
}
try {
  const [embedded, mongo] = await Promise.all(apps.map(methodsOf));
  const rows: object[] = [];
  for (const name of Object.keys(embedded!)) {
    const row: { [column: string]: string | number } = { method: name };
    for (const atOnce of AT_ONCE) {
      const ours = await rate(embedded![name]!, atOnce);
      row[`embedded/s, ${atOnce}`] = Math.round(ours);
      if (!mongo) continue;
      const theirs = await rate(mongo[name]!, atOnce);
      row[`mongo/s, ${atOnce}`] = Math.round(theirs);
      row[`mongo ÷ embedded, ${atOnce}`] = Number((theirs / ours).toFixed(3));
    }
    rows.push(row);
  }
  console.table(rows);
} finally {
  await Promise.all(apps.map((app) => app.close()));
  await rm(directory, { recursive: true });
}
