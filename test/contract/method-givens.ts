import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../../src/common/ids.js';
import type { ClientAnnouncement } from '../../src/storage/records/clients.js';
import type { KeyClaim } from '../../src/storage/records/idempotency-keys.js';
import type { FileOutcome, FileRequest } from '../../src/storage/records/file-requests.js';
import type { LoginRecord } from '../../src/storage/records/logins.js';
import type { RootRecord } from '../../src/storage/records/roots.js';
import type { SessionRecord } from '../../src/storage/records/sessions.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import { aCall, aTurn, nextVersion, NOON } from '../../src/turns/state/turn.sample.js';
import type { Stores } from './backends.js';
import { aVersion, bytesOf, givenFile, givenFolder, moved } from './file-records.js';
import { aBatch } from './patch-records.js';
import { anEvent, aUser, aWorkspace, givenWorkspace, insertTurn, withMember } from './records.js';

/** More than is kept in the document of a turn. */
export const LARGE = 'x'.repeat(300_000);

export const inWorkspace = <Thing>(
  make: (workspaceId: string) => Thing,
  store: (stores: Stores, thing: Thing) => Promise<unknown> = () => Promise.resolve(),
) => {
  return async (stores: Stores): Promise<Thing> => {
    const thing = make(await givenWorkspace(stores));
    await store(stores, thing);
    return thing;
  };
};

export const aClient = (workspaceId: string): ClientAnnouncement => ({
  ...{ workspaceId, userId: newId(), clientId: 'editor', name: 'Editor', epoch: 1, connectionId: newId() },
  ...{ roots: [{ name: 'Proj', docPath: 'proj', rootId: newId() }], node: newId() },
  ...{ tools: [], connectedAt: NOON, until: NOON + 90 },
});
export const anOffer = { name: 'run', digest: 'd', version: 'v', bytes: 9, isAvailable: true };
export const client = inWorkspace(aClient, ({ clients }, made) => clients.connected(made));

export const aContract = {
  ...{ name: 'note', description: 'Note.', category: 'notes', executionLocation: 'client' as const },
  ...{ requestSchema: {}, responseSchema: {}, guidance: '# note' },
};
export const contract = (stores: Stores): Promise<string> => {
  const digest = 'c'.repeat(64);
  return stores.contracts.put(digest, aContract).then(() => digest);
};

export const aKey = (workspaceId: string): KeyClaim => ({
  ...{ workspaceId, userId: newId(), key: 'key', sessionId: newId(), turnId: newId(), claimedAt: NOON },
});
export const key = inWorkspace(aKey, ({ keys }, made) => keys.claim(made, 0));

export const aFileRequest = (): FileRequest => ({
  ...{ id: newId(), asker: 'a', node: 'b', expiresAt: NOON },
  wish: {
    ...{ workspaceId: newId(), userId: newId(), docPath: 'proj/a', maxBytes: 10 },
    ...{ boundClientId: null, lastClientId: null, activeSha256: null },
  },
});
export const fileRequest = async ({ fileRequests }: Stores): Promise<FileRequest> => {
  const made = aFileRequest();
  await fileRequests.ask(made);
  return made;
};
export const FILE_GIVEN: FileOutcome = { kind: 'given', sha256: 's', isDirty: true, source: 'active' };

export const answeredRequest = async (stores: Stores): Promise<FileRequest> => {
  const made = await fileRequest(stores);
  await stores.fileRequests.answer(made, FILE_GIVEN, Buffer.from('open'));
  return made;
};

export const aLogin = (): LoginRecord => ({
  ...{ id: newId(), userId: newId(), familyHash: 'family', tokenHash: 'first', previousHash: null },
  ...{ seed: null, rotatedAt: NOON, expiresAt: NOON + 100, createdAt: NOON },
});
export const login = async ({ logins }: Stores): Promise<LoginRecord> => {
  const made = aLogin();
  await logins.insert(made);
  return made;
};
export const SECOND = {
  ...{ tokenHash: 'second', previousHash: 'first', seed: 'seed', rotatedAt: NOON + 10 },
  expiresAt: NOON + 200,
};

export const batch = inWorkspace(
  (workspaceId) => aBatch(aTurn(workspaceId)),
  ({ patches }, made) => patches.insert(made),
);

export const aRoot = (workspaceId: string): RootRecord => ({
  ...{ workspaceId, docPath: 'proj', name: 'Proj', rootId: newId(), userId: newId(), claimedAt: NOON },
});
export const root = inWorkspace(aRoot, ({ roots }, made) => roots.claim(made));

export const aSession = (workspaceId: string): SessionRecord => ({
  ...{ id: newId(), workspaceId, conversationId: newId(), userId: 'u', clientId: null },
  ...{ tools: ['mv'], createdAt: NOON },
});
export const session = inWorkspace(aSession, ({ sessions }, made) => sessions.insert(made));
export const ACTIVE = [
  { docPath: 'a', displayPath: 'a', sha256: 'a'.repeat(64), sizeBytes: 1, isDirty: false },
];

export const newTurn = (workspaceId: string): Turn =>
  aTurn(workspaceId, {
    userId: 'u',
    calls: [aCall(), aCall({ toolCallId: 'call_2' })],
    lease: { owner: newId(), until: NOON + 9 },
  });
export const turn = inWorkspace(newTurn, (stores, made) =>
  insertTurn(stores, made, { arguments: [{ a: 1 }, { b: LARGE }], events: [anEvent()] }),
);
/** With a result of its first call. */
export const endedTurn = async (stores: Stores): Promise<Turn> => {
  const before = await turn(stores);
  const after = nextVersion(before, { status: 'succeeded', endedBy: 'client', endedAt: NOON + 5 });
  const { callId } = before.calls[0]!;
  await stores.turns.save(before, after, [{ callId, result: 1, editedArguments: { c: 1 } }], [anEvent()]);
  return after;
};

export const file = async (stores: Stores) => givenFile(stores, await givenWorkspace(stores), '/docs/a');
export const folder = async (stores: Stores) => givenFolder(stores, await givenWorkspace(stores), '/docs/b');
export const upload = inWorkspace((workspaceId) => ({ workspaceId, userId: 'u' }));
/** More than lies in one document. */
export const MANY_BYTES = bytesOf('many bytes '.repeat(100_000));
export const HASH = sha256('bytes');
export const blob = async (stores: Stores) => {
  const who = await upload(stores);
  await stores.blobs.put(who, HASH, bytesOf('bytes'), NOON);
  return who;
};
/** A file of which a version was kept, and its events. */
export const conflict = async (stores: Stores) => {
  const made = await file(stores);
  const version = aVersion('other', { number: 2, conflict: true, filePatchId: newId() });
  const next = moved(made, { lastNumber: 2 });
  await stores.files.keepConflict(next, 1, version, bytesOf('other'), [anEvent()]);
  return { ...next, version };
};

/** An event that is the same however often the call that brings it is made. */
export const withEvents = <Thing>(given: (stores: Stores) => Promise<Thing>) => {
  return async (stores: Stores) => ({ thing: await given(stores), events: [anEvent(), anEvent()] });
};

export const user = async ({ users }: Stores) => {
  const made = aUser();
  await users.insert(made);
  return made;
};
export const workspace = async ({ workspaces }: Stores) => {
  const made = aWorkspace({ createdBy: newId() });
  await workspaces.insert(made);
  return made;
};
/** With a member that was removed. */
export const removal = async (stores: Stores) => {
  const made = await workspace(stores);
  const [userId, byUserId] = [newId(), newId()];
  await stores.workspaces.save(withMember(made, userId), 1);
  const gone = { workspaceId: made.id, userId, byUserId, removedAt: NOON };
  await stores.workspaces.save({ ...made, version: 3 }, 2, gone);
  return gone;
};
export const ownerOf = (made: { members: { userId: string }[] }): string => made.members[0]!.userId;
