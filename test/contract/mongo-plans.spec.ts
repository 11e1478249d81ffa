import type { INestApplicationContext } from '@nestjs/common';
import { Blobs } from '../../src/storage/mongo/blobs.js';
import { FolderSpellings } from '../../src/storage/mongo/folder-spellings.js';
import { Projector } from '../../src/storage/mongo/projector.js';
import { TurnTexts } from '../../src/storage/mongo/turn-texts.js';
import { UsageCounter } from '../../src/storage/mongo/usage-counter.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import type { TurnStore } from '../../src/storage/ports/turns.store.js';
import { aCall, aTurn, nextVersion, NOON } from '../../src/turns/state/turn.sample.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { suiteFixture } from '../support/fixtures.js';
import { QueryPlans } from '../support/query-plans.js';
import { type Stores, storesOf } from './backends.js';
import type { PatchStore } from '../../src/storage/ports/patches.store.js';
import { aFile, aFolder, bytesOf, moved, withHead } from './file-records.js';
import { aFileRequest, FILE_GIVEN } from './method-givens.js';
import { SCENES } from './method-cases.js';
import type { Fixture } from './fixture.js';
import { openMongoApp } from './mongo-app.js';
import { aBatch, aLargeBatch } from './patch-records.js';
import { anEvent, aUser, aWorkspace, join } from './records.js';

describeOnMongo('queries on MongoDB', () => {
  const mongo = suiteFixture(() => openMongoApp());
  const plans = suiteFixture(() => QueryPlans.of(mongo.app));

  it('go along an index and sort nothing, wherever the server explains them', async () => {
    const { app, stores } = mongo;
    await sweepEverything(app);
    for (const fixtures of Object.values(SCENES))
      for (const fixture of Object.values(fixtures as Record<string, Fixture>))
        await (
          await fixture(stores)
        )();
    await askEverything(stores);
    const { queries } = plans;
    const commands = new Set(queries.map(({ command }) => command));
    expect([...commands]).toEqual(expect.arrayContaining(['find', 'aggregate', 'update', 'delete']));
    expect(queries.length).toBeGreaterThan(100);
    await plans.check();
  });
});

/** What looks after the data in the background, as a server that runs for long does. */
async function sweepEverything(app: INestApplicationContext): Promise<void> {
  const later = Date.now() + 3_600_000;
  const [stores, counter] = [storesOf(app), app.get(UsageCounter)];
  const workspace = aWorkspace();
  await stores.workspaces.insert(workspace);
  await stores.files.insert(aFile(workspace.id, '/a/b', 'text'), bytesOf('text'), [anEvent()]);
  await counter.flush();
  await app.get(Projector).drain(workspace.id);
  await app.get(TurnTexts).removeOrphans(later, 9);
  await app.get(FolderSpellings).removeUnused(later, 9);
  await app.get(Blobs).removeOrphanParts('', 9);
}

/** Beside the fixtures: with other arguments, and where there is more. */
async function askEverything(stores: Stores): Promise<void> {
  const { audit, clients, contracts, keys, logins, patches, roots, sessions, turns, users, workspaces } =
    stores;
  const [user, workspace] = [aUser(), aWorkspace()];
  const { id: workspaceId, version } = workspace;
  const userId = user.id;
  await users.insert(user);
  await workspaces.insert(workspace);
  await users.byEmail(user.email);
  await users.byIds([userId]);
  await workspaces.save({ ...workspace, version: version + 1 }, version);
  await workspaces.unsettled(10);
  await workspaces.settled({ workspaceId, userId, byUserId: userId, removedAt: NOON });
  await workspaces.summaryOf(workspaceId, userId);
  await workspaces.summariesOf(userId, null, 10);
  await workspaces.summariesOf(userId, workspaceId, 10);
  await workspaces.approvalsOf(workspaceId);
  await workspaces.countMadeBy(userId, userId);
  await workspaces.roleOf(workspaceId, userId);
  await logins.byId('a');
  await logins.rotate('a', 'b', {
    tokenHash: 'c',
    previousHash: 'b',
    seed: null,
    rotatedAt: 1,
    expiresAt: 2,
  });
  await logins.remove('a');
  await logins.removeExpired(NOON);
  await askFileRequests(stores);
  await contracts.byDigest('a');
  await sessions.byId(workspaceId, 'a');
  await sessions.ofUser(workspaceId, userId, null, 10);
  await sessions.replaceActiveFiles(workspaceId, 'a', []);
  await sessions.activeFilesOf(workspaceId, 'a');
  const client = { workspaceId, userId, clientId: 'a' };
  await clients.epochOf(client);
  await clients.disconnected(client, 'a', NOON);
  await clients.renew('a', NOON);
  await clients.endAll('a', NOON);
  await clients.removeUnseen(NOON);
  await clients.ofUser(workspaceId, userId, 10);
  await roots.ofWorkspace(workspaceId);
  await roots.remove({ workspaceId, docPath: 'a', name: 'a', rootId: 'a', userId, claimedAt: NOON });
  await keys.find(workspaceId, userId, 'a', NOON);
  await keys.removeExpired(NOON);
  await audit.latestSuccesses(workspaceId, 'a', 10);
  await audit.grownSince(
    new Map([
      [workspaceId, 0],
      ['other', 7],
    ]),
  );
  for (const place of [{}, { sessionId: 'a' }, { turnId: 'a' }, { callId: 'a' }]) {
    await audit.page(workspaceId, place, 1, 10);
    await audit.page(workspaceId, { ...place, path: 'a', from: NOON }, 1, 10);
  }
  for (const member of [userId, 'u']) await join(stores, { workspaceId, userId: member });
  await askFiles(stores, workspaceId);
  await stores.usage.ofUser(userId);
  const turn = aTurn(workspaceId, { userId });
  await askTurns(turns, turn);
  await askPatches(patches, turn);
}

async function askPatches(patches: PatchStore, turn: Turn): Promise<void> {
  const { workspaceId } = turn;
  for (const record of [aBatch(turn), aLargeBatch(turn)]) {
    const { filePatchId, changes } = record.batch.files[0]!;
    await patches.insert(record);
    await patches.byId(workspaceId, record.batchId);
    await patches.docPathsOf(workspaceId, record.batchId);
    await patches.ofFilePatch(workspaceId, filePatchId!);
    await patches.ofChange(workspaceId, changes[0]!.changeId!);
    await patches.remove(workspaceId, record.batchId);
  }
  await patches.insert(aBatch(turn));
  await patches.removeOrphans(NOON + 1, 10);
}

async function askTurns(turns: TurnStore, turn: Turn): Promise<void> {
  const { workspaceId, sessionId, turnId, userId } = turn;
  const { callId } = turn.calls[0]!;
  const large = 'a'.repeat(20_000);
  await turns.insert(turn, [large], [], [anEvent()]);
  await turns.record(workspaceId, [anEvent()]);
  await turns.insert({ ...turn, calls: [aCall()] }, [large], [], []);
  const [next, other] = [nextVersion(turn), nextVersion(turn, { attempt: 1 })];
  const result = { callId, result: large, editedArguments: large };
  await turns.save(turn, next, [result], []);
  await turns.save(turn, other, [result], []);
  await turns.find(turn);
  await turns.versionOf(turn);
  await turns.ofCall(workspaceId, turnId, callId);
  await turns.argumentsOf(turn);
  await turns.argumentsOfCall(turn, 0);
  await turns.resultsOf(turn);
  await turns.resultOf(turn, callId);
  await turns.editedArgumentsOf(turn, callId);
  await turns.openVersionsOf([turn, { workspaceId: 'other', userId }]);
  for (const after of [null, turn]) {
    await turns.openIn(workspaceId, null, after, 10);
    await turns.openIn(workspaceId, userId, after, 10);
  }
  await turns.openOfWorkspace(workspaceId);
  await turns.openOfUser(userId);
  await turns.dueBefore(NOON, 10);
  await turns.leasedBy('a');
  await turns.lastUseOf(workspaceId, sessionId);
}

async function askFiles({ blobs, files, usage }: Stores, workspaceId: string): Promise<void> {
  let file = aFile(workspaceId, '/a/b', 'text');
  await files.insert(file, bytesOf('text'), [anEvent()]);
  for (let count = 0; count < 40; count += 1) {
    const next = withHead(file, 'text');
    await files.commitVersion(next, file.revision, null, []);
    file = next;
  }
  const { sha256: hash, id } = file.head;
  await files.save(moved(file, { deletedAt: NOON }), file.revision, [anEvent()]);
  await files.save(moved(file, { deletedAt: NOON }), file.revision, [anEvent()]);
  const folder = aFolder(workspaceId, '/c/d');
  await files.insertFolder(folder, []);
  await files.at(workspaceId, 'c');
  await files.lastDeletedAt(workspaceId, 'a/b');
  await files.byId(workspaceId, file.id);
  await files.childrenOf(workspaceId, '', null, 9);
  await files.below(workspaceId, '', 'b', 9);
  await files.below(workspaceId, 'c', null, 9);
  for (const deleted of [true, false]) {
    await files.page(workspaceId, { docPrefix: 'a', deleted }, null, 9);
    await files.page(workspaceId, { docPrefix: 'a', deleted }, file, 9);
  }
  await files.versionsOf(workspaceId, file.id, null, 9);
  await files.versionOf(workspaceId, file.id, id);
  await files.versionOf(workspaceId, file.id, 'none');
  await files.conflictOf(workspaceId, file.id, hash);
  await files.versionOfPatch(workspaceId, 'patch', hash);
  await files.removeFolder(folder, NOON, []);
  await files.removeFolder(folder, NOON, []);
  await blobs.missing(workspaceId, [hash]);
  await blobs.read(workspaceId, hash);
  await blobs.put({ workspaceId, userId: 'u' }, 'b'.repeat(64), Buffer.alloc(100_000), NOON);
  await blobs.read(workspaceId, 'b'.repeat(64));
  await blobs.mark(NOON + 1, 9, NOON + 2);
  await blobs.removeMarked(NOON + 3, 9);
  await usage.ofWorkspace(workspaceId);
}

async function askFileRequests({ fileRequests }: Stores): Promise<void> {
  const made = aFileRequest();
  await fileRequests.wantedOf(made.node, 10);
  await fileRequests.answer(made, FILE_GIVEN, null);
  await fileRequests.answersTo(made.asker, 10);
  await fileRequests.contentOf({ id: made.id, outcome: FILE_GIVEN, bytes: 0 });
  await fileRequests.remove(made.id);
  await fileRequests.removeExpired(NOON);
}
