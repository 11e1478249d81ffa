import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../../src/common/ids.js';
import { aTurn, completed, NOON } from '../../src/turns/state/turn.sample.js';
import type { Stores } from './backends.js';
import { about, type Fixture } from './fixture.js';
import { aFile, aFolder, aVersion, bytesOf, moved, withHead } from './file-records.js';
import { aBatch } from './patch-records.js';
import { aUser, aWorkspace, givenWorkspace, withMember } from './records.js';

import {
  LARGE,
  inWorkspace,
  aClient,
  client,
  aContract,
  contract,
  aKey,
  key,
  aFileRequest,
  fileRequest,
  answeredRequest,
  FILE_GIVEN,
  aLogin,
  login,
  SECOND,
  batch,
  aRoot,
  root,
  aSession,
  session,
  ACTIVE,
  newTurn,
  turn,
  endedTurn,
  file,
  folder,
  upload,
  MANY_BYTES,
  HASH,
  blob,
  conflict,
  withEvents,
  user,
  workspace,
  removal,
  ownerOf,
  anOffer,
} from './method-givens.js';

type Fixtures<Store> = { [Method in keyof Store]: Fixture };

const LATER = NOON + 1_000_000;
/** One of every method of every port; the type lets none be left out. */
export const SCENES: { [Port in keyof Stores]: Fixtures<Stores[Port]> } = {
  audit: {
    page: about(turn, ({ audit }, { workspaceId }) => audit.page(workspaceId, {}, 0, 9)),
    grownSince: about(turn, ({ audit }, { workspaceId }) => audit.grownSince(new Map([[workspaceId, 0]]))),
    latestSuccesses: about(turn, ({ audit }, { workspaceId, sessionId }) =>
      audit.latestSuccesses(workspaceId, sessionId, 9),
    ),
  },
  blobs: {
    put: about(upload, ({ blobs }, who) => blobs.put(who, sha256(MANY_BYTES), MANY_BYTES, NOON)),
    missing: about(blob, ({ blobs }, { workspaceId }) => blobs.missing(workspaceId, [HASH, 'b'.repeat(64)])),
    read: about(blob, ({ blobs }, { workspaceId }) => blobs.read(workspaceId, HASH)),
    mark: about(blob, ({ blobs }) => blobs.mark(LATER, 9, LATER)),
    removeMarked: about(
      async (stores) => {
        await blob(stores);
        await stores.blobs.mark(LATER, 9, LATER);
      },
      ({ blobs }) => blobs.removeMarked(LATER + 1, 9),
    ),
  },
  clients: {
    connected: about(inWorkspace(aClient), ({ clients }, made) => clients.connected(made)),
    epochOf: about(client, ({ clients }, made) => clients.epochOf(made)),
    disconnected: about(client, ({ clients }, is) => clients.disconnected(is, is.connectionId, NOON + 1)),
    reported: about(client, ({ clients }, made) => {
      const status = { docPath: 'proj', conflicts: ['a'], behind: [], more: 0 };
      return clients.reported(made, made.connectionId, status);
    }),
    offered: about(client, ({ clients }, made) => clients.offered(made, made.connectionId, [anOffer])),
    renew: about(client, ({ clients }, { node }) => clients.renew(node, LATER)),
    endAll: about(client, ({ clients }, { node }) => clients.endAll(node, NOON + 2)),
    removeUnseen: about(client, ({ clients }) => clients.removeUnseen(LATER)),
    ofUser: about(client, ({ clients }, { workspaceId, userId }) => clients.ofUser(workspaceId, userId, 9)),
    statusesOf: about(client, ({ clients }, { workspaceId, userId }) =>
      clients.statusesOf(workspaceId, userId, 9),
    ),
  },
  contracts: {
    put: about(
      () => Promise.resolve('c'.repeat(64)),
      ({ contracts }, digest) => contracts.put(digest, aContract),
    ),
    byDigest: about(contract, ({ contracts }, digest) => contracts.byDigest(digest)),
  },
  files: {
    insert: about(
      withEvents(inWorkspace((workspaceId) => aFile(workspaceId, '/docs/a'))),
      ({ files }, { thing, events }) => files.insert(thing, bytesOf('/docs/a'), events),
    ),
    commitVersion: about(
      withEvents(async (stores) => withHead(await file(stores), 'new')),
      ({ files }, { thing, events }) => files.commitVersion(thing, 1, bytesOf('new'), events),
    ),
    keepConflict: about(
      withEvents(async (stores) => {
        const made = moved(await file(stores), { lastNumber: 2 });
        return { made, version: aVersion('other', { number: 2, conflict: true }) };
      }),
      ({ files }, { thing: { made, version }, events }) =>
        files.keepConflict(made, 1, version, bytesOf('other'), events),
    ),
    save: about(
      withEvents(async (stores) => moved(await file(stores), { path: '/to/B', docPath: 'to/b' })),
      ({ files }, { thing, events }) => files.save(thing, 1, events),
    ),
    insertFolder: about(
      withEvents(inWorkspace((workspaceId) => aFolder(workspaceId, '/docs/b'))),
      ({ files }, { thing, events }) => files.insertFolder(thing, events),
    ),
    removeFolder: about(withEvents(folder), ({ files }, { thing, events }) =>
      files.removeFolder(thing, NOON + 1, events),
    ),
    at: about(file, ({ files }, { workspaceId }) => files.at(workspaceId, 'docs')),
    lastDeletedAt: about(
      async (stores) => {
        const gone = moved(await file(stores), { deletedAt: NOON + 1 });
        await stores.files.save(gone, 1, []);
        return gone;
      },
      ({ files }, { workspaceId, docPath }) => files.lastDeletedAt(workspaceId, docPath),
    ),
    byId: about(file, ({ files }, { workspaceId, id }) => files.byId(workspaceId, id)),
    childrenOf: about(file, ({ files }, { workspaceId }) => files.childrenOf(workspaceId, '', null, 9)),
    below: about(file, ({ files }, { workspaceId }) => files.below(workspaceId, '', null, 9)),
    page: about(file, ({ files }, { workspaceId }) =>
      files.page(workspaceId, { docPrefix: '', deleted: false }, null, 9),
    ),
    versionsOf: about(conflict, ({ files }, { workspaceId, id }) =>
      files.versionsOf(workspaceId, id, null, 9),
    ),
    versionOf: about(conflict, ({ files }, { workspaceId, id, version }) =>
      files.versionOf(workspaceId, id, version.id),
    ),
    conflictOf: about(conflict, ({ files }, { workspaceId, id }) =>
      files.conflictOf(workspaceId, id, sha256('other')),
    ),
    versionOfPatch: about(conflict, ({ files }, { workspaceId, version }) =>
      files.versionOfPatch(workspaceId, version.filePatchId!, sha256('other')),
    ),
  },
  fileRequests: {
    ask: about(
      () => Promise.resolve(aFileRequest()),
      ({ fileRequests }, made) => fileRequests.ask(made),
    ),
    wantedOf: about(fileRequest, ({ fileRequests }, { node }) => fileRequests.wantedOf(node, 10)),
    answer: about(fileRequest, ({ fileRequests }, made) =>
      fileRequests.answer(made, FILE_GIVEN, bytesOf('open')),
    ),
    answersTo: about(answeredRequest, ({ fileRequests }, { asker }) => fileRequests.answersTo(asker, 10)),
    contentOf: about(answeredRequest, ({ fileRequests }, { id }) =>
      fileRequests.contentOf({ id, outcome: FILE_GIVEN, bytes: 4 }),
    ),
    remove: about(answeredRequest, ({ fileRequests }, { id }) => fileRequests.remove(id)),
    removeExpired: about(answeredRequest, ({ fileRequests }) => fileRequests.removeExpired(LATER)),
  },
  health: { check: about(givenWorkspace, ({ health }) => health.check()) },
  keys: {
    claim: about(inWorkspace(aKey), ({ keys }, made) => keys.claim(made, 0)),
    find: about(key, ({ keys }, { workspaceId, userId }) => keys.find(workspaceId, userId, 'key', 0)),
    removeExpired: about(key, ({ keys }) => keys.removeExpired(LATER)),
  },
  logins: {
    insert: about(
      () => Promise.resolve(aLogin()),
      ({ logins }, made) => logins.insert(made),
    ),
    byId: about(login, ({ logins }, { id }) => logins.byId(id)),
    liveAmong: about(login, ({ logins }, { id }) => logins.liveAmong([id, newId()], NOON)),
    rotate: about(login, ({ logins }, { id }) => logins.rotate(id, 'first', SECOND)),
    remove: about(login, ({ logins }, { id }) => logins.remove(id)),
    removeExpired: about(login, ({ logins }) => logins.removeExpired(LATER)),
  },
  patches: {
    insert: about(
      inWorkspace((workspaceId) => aBatch(aTurn(workspaceId))),
      ({ patches }, made) => patches.insert(made),
    ),
    byId: about(batch, ({ patches }, { workspaceId, batchId }) => patches.byId(workspaceId, batchId)),
    docPathsOf: about(batch, ({ patches }, { workspaceId, batchId }) =>
      patches.docPathsOf(workspaceId, batchId),
    ),
    ofFilePatch: about(batch, ({ patches }, { workspaceId, batch: { files } }) =>
      patches.ofFilePatch(workspaceId, files[0]!.filePatchId!),
    ),
    ofChange: about(batch, ({ patches }, { workspaceId, batch: { files } }) =>
      patches.ofChange(workspaceId, files[0]!.changes[0]!.changeId!),
    ),
    remove: about(batch, ({ patches }, { workspaceId, batchId }) => patches.remove(workspaceId, batchId)),
    removeOrphans: about(batch, ({ patches }) => patches.removeOrphans(LATER, 9)),
  },
  roots: {
    claim: about(inWorkspace(aRoot), ({ roots }, made) => roots.claim(made)),
    remove: about(root, ({ roots }, made) => roots.remove(made)),
    ofWorkspace: about(root, ({ roots }, { workspaceId }) => roots.ofWorkspace(workspaceId)),
  },
  sessions: {
    insert: about(inWorkspace(aSession), ({ sessions }, made) => sessions.insert(made)),
    byId: about(session, ({ sessions }, { workspaceId, id }) => sessions.byId(workspaceId, id)),
    ofUser: about(session, ({ sessions }, { workspaceId, userId }) =>
      sessions.ofUser(workspaceId, userId, null, 9),
    ),
    replaceActiveFiles: about(session, ({ sessions }, { workspaceId, id }) =>
      sessions.replaceActiveFiles(workspaceId, id, ACTIVE),
    ),
    activeFilesOf: about(session, ({ sessions }, { workspaceId, id }) =>
      sessions.activeFilesOf(workspaceId, id),
    ),
  },
  turns: {
    insert: about(withEvents(inWorkspace(newTurn)), ({ turns }, { thing, events }) =>
      turns.insert(thing, [{ a: 1 }, { b: LARGE }], [], events),
    ),
    save: about(
      withEvents(async (stores) => {
        const before = await turn(stores);
        return { before, after: completed(before), callId: before.calls[0]!.callId };
      }),
      ({ turns }, { thing: { before, after, callId }, events }) =>
        turns.save(before, after, [{ callId, result: LARGE }], events),
    ),
    record: about(withEvents(turn), ({ turns }, { thing, events }) =>
      turns.record(thing.workspaceId, events),
    ),
    find: about(turn, ({ turns }, made) => turns.find(made)),
    versionOf: about(turn, ({ turns }, made) => turns.versionOf(made)),
    ofCall: about(turn, ({ turns }, { workspaceId, turnId, calls }) =>
      turns.ofCall(workspaceId, turnId, calls[0]!.callId),
    ),
    argumentsOf: about(turn, ({ turns }, made) => turns.argumentsOf(made)),
    argumentsOfCall: about(turn, ({ turns }, made) => turns.argumentsOfCall(made, 1)),
    resultsOf: about(endedTurn, ({ turns }, made) => turns.resultsOf(made)),
    resultOf: about(endedTurn, ({ turns }, made) => turns.resultOf(made, made.calls[0]!.callId)),
    editedArgumentsOf: about(endedTurn, ({ turns }, made) =>
      turns.editedArgumentsOf(made, made.calls[0]!.callId),
    ),
    openVersionsOf: about(turn, ({ turns }, made) => turns.openVersionsOf([made])),
    openIn: about(turn, ({ turns }, { workspaceId }) => turns.openIn(workspaceId, null, null, 9)),
    openOfWorkspace: about(turn, ({ turns }, { workspaceId }) => turns.openOfWorkspace(workspaceId)),
    openOfUser: about(turn, ({ turns }, { userId }) => turns.openOfUser(userId)),
    dueBefore: about(turn, ({ turns }) => turns.dueBefore(LATER, 9)),
    leasedBy: about(turn, ({ turns }, { lease }) => turns.leasedBy(lease!.owner)),
    lastUseOf: about(turn, ({ turns }, { workspaceId, sessionId }) =>
      turns.lastUseOf(workspaceId, sessionId),
    ),
  },
  usage: {
    ofWorkspace: about(session, ({ usage }, { workspaceId }) => usage.ofWorkspace(workspaceId)),
    ofUser: about(session, ({ usage }, { userId }) => usage.ofUser(userId)),
  },
  users: {
    insert: about(
      async ({ users }) => {
        const first = aUser();
        await users.insertFirst(first);
        await users.insert(first);
        return aUser();
      },
      ({ users }, made) => users.insert(made),
    ),
    insertFirst: about(
      () => Promise.resolve(aUser()),
      ({ users }, made) => users.insertFirst(made),
    ),
    isEmpty: about(user, ({ users }) => users.isEmpty()),
    byId: about(user, ({ users }, { id }) => users.byId(id)),
    byEmail: about(user, ({ users }, { email }) => users.byEmail(email)),
    byIds: about(user, ({ users }, { id }) => users.byIds([id])),
  },
  workspaces: {
    insert: about(
      () => Promise.resolve(aWorkspace()),
      ({ workspaces }, made) => workspaces.insert(made),
    ),
    save: about(
      async (stores) => withMember(await workspace(stores), newId()),
      ({ workspaces }, made) => workspaces.save(made, 1),
    ),
    unsettled: about(removal, ({ workspaces }) => workspaces.unsettled(9)),
    settled: about(removal, ({ workspaces }, gone) => workspaces.settled(gone)),
    byId: about(workspace, ({ workspaces }, { id }) => workspaces.byId(id)),
    summaryOf: about(workspace, ({ workspaces }, made) => workspaces.summaryOf(made.id, ownerOf(made))),
    summariesOf: about(workspace, ({ workspaces }, made) => workspaces.summariesOf(ownerOf(made), null, 9)),
    approvalsOf: about(workspace, ({ workspaces }, { id }) => workspaces.approvalsOf(id)),
    countMadeBy: about(workspace, ({ workspaces }, made) =>
      workspaces.countMadeBy(made.createdBy, ownerOf(made)),
    ),
    roleOf: about(workspace, ({ workspaces }, made) => workspaces.roleOf(made.id, ownerOf(made))),
  },
};
