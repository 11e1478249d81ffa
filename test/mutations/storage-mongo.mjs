const ROOM = 'src/storage/mongo';
const DATABASE = `${ROOM}/database.ts`;
const ANSWERS = `${ROOM}/faults.ts`;
const GATHERED = `${ROOM}/gathered.ts`;
const BUILD = `${ROOM}/build.ts`;
const LOGINS = `${ROOM}/logins.store.ts`;
const USERS = `${ROOM}/users.store.ts`;
const KEYS = `${ROOM}/idempotency-keys.store.ts`;
const ROOTS = `${ROOM}/roots.store.ts`;
const CLIENTS = `${ROOM}/clients.store.ts`;
const SESSIONS = `${ROOM}/sessions.store.ts`;
const WORKSPACES = `${ROOM}/workspaces.store.ts`;
const TURNS = `${ROOM}/turns.store.ts`;
const TURN_DOCUMENTS = `${ROOM}/turn-documents.ts`;
const OPEN = `${ROOM}/open-turns.ts`;
const TEXTS = `${ROOM}/turn-texts.ts`;
const TURN_BYTES = `${ROOM}/turn-bytes.ts`;
const OUTBOX = `${ROOM}/outbox.ts`;
const OUTBOXES = `${ROOM}/outboxes.ts`;
const PROJECTOR = `${ROOM}/projector.ts`;
const TRAIL = `${ROOM}/trail.ts`;
const AUDIT = `${ROOM}/audit.store.ts`;
const FILES = `${ROOM}/files.store.ts`;
const ENTRIES = `${ROOM}/entries.ts`;
const WRITES = `${ROOM}/entry-writes.ts`;
const VERSIONS = `${ROOM}/versions.ts`;
const FOLDERS = `${ROOM}/folders.ts`;
const BLOBS = `${ROOM}/blobs.ts`;
const BLOB_STORE = `${ROOM}/blobs.store.ts`;
const PARTS = `${ROOM}/parts.ts`;
const PATCHES = `${ROOM}/patches.store.ts`;
const COUNTER = `${ROOM}/usage-counter.ts`;
const RECOUNT = `${ROOM}/usage-recount.ts`;
const SWEEP = `${ROOM}/orphan-sweep.ts`;

const DATABASE_SPEC = 'test/contract/mongo-database.spec.ts';
const BAD_LINE = 'test/contract/mongo-proxy.spec.ts';
const MONGO_TURNS = 'test/contract/mongo-turns.spec.ts';
const MONGO_PROJECTOR = 'test/contract/mongo-projector.spec.ts';
const MONGO_TRAIL = 'test/contract/mongo-trail.spec.ts';
const MONGO_FILES = 'test/contract/mongo-files.spec.ts';
const MONGO_USAGE = 'test/contract/mongo-usage.spec.ts';
const MONGO_SWEEPS = 'test/contract/mongo-sweeps.spec.ts';
const MONGO_PATCHES = 'test/contract/mongo-patches.spec.ts';
const MONGO_BYTES = 'test/contract/mongo-turn-bytes.spec.ts';
const GATHERED_SPEC = 'src/storage/mongo/gathered.spec.ts';
const LOGIN_SPEC = 'test/contract/logins.spec.ts';
const USER_SPEC = 'test/contract/users.spec.ts';
const MONGO_USERS = 'test/contract/mongo-users.spec.ts';
const FIRST_SPEC = 'test/contract/first-user.spec.ts';
const KEY_SPEC = 'test/contract/idempotency-keys.spec.ts';
const ROOT_SPEC = 'test/contract/roots.spec.ts';
const CLIENT_SPEC = 'test/contract/clients.spec.ts';
const SESSION_SPEC = 'test/contract/sessions.spec.ts';
const WORKSPACE_SPEC = 'test/contract/workspaces.spec.ts';
const TURN_WRITES = 'test/contract/turn-writes.spec.ts';
const TURN_READS = 'test/contract/turn-reads.spec.ts';
const OPEN_LISTS = 'test/contract/open-turn-lists.spec.ts';
const TEXT_SPEC = 'test/contract/large-texts.spec.ts';
const AUDIT_SPEC = 'test/contract/audit.spec.ts';
const FILE_SPEC = 'test/contract/files.spec.ts';
const FILE_RACES = 'test/contract/file-races.spec.ts';
const FOLDER_SPEC = 'test/contract/folders.spec.ts';
const FOLDER_RACES = 'test/contract/folder-races.spec.ts';
const BLOB_SPEC = 'test/contract/blobs.spec.ts';
const SWEEP_SPEC = 'test/contract/blob-sweep.spec.ts';
const PATCH_SPEC = 'test/contract/patches.spec.ts';
const USAGE_SPEC = 'test/contract/usage.spec.ts';

/** What a suite of a port is called here; also the suites of this backend alone. */
const HERE = 'mongo';

/** The server that all of this runs on. */
export const NEEDS = ['PATCHBAY_TEST_MONGODB_URI'];

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'who asks at the same time is given what lies at the place of another',
    file: `${ROOM}/gathered.ts`,
    find: `values.map((value) => byValue.get(value) ?? null)`,
    replace: `values.map((_, at) => [...byValue.values()][at] ?? null)`,
    specs: [MONGO_FILES],
    only: 'hundred',
  },
  {
    name: 'bytes that are not there are taken for those that are',
    file: BLOBS,
    find: `return asked.map(({ _id }) => byId.get(_id) ?? null);`,
    replace: `return asked.map(({ _id }) => byId.get(_id) ?? found[0] ?? null);`,
    specs: [MONGO_FILES],
    only: 'hundred',
  },
  {
    name: 'of bytes that came just now nothing is counted',
    file: BLOBS,
    find: `        this.usage.count(workspaceId, userId, { bytes: bytes.length }, since);\n`,
    replace: ``,
    specs: [USAGE_SPEC],
  },
  {
    name: 'a folder is spelt for the first of many that come at once, and for no other',
    file: FOLDERS,
    find: `new Map(asked.map((spelling) => [spelling._id, spelling]))`,
    replace: `new Map(asked.slice(0, 1).map((spelling) => [spelling._id, spelling]))`,
    specs: [MONGO_FILES],
    only: 'hundred',
  },
  {
    name: 'what failed in passing is not tried again',
    file: DATABASE,
    find: `if (isLast) throw this.unavailable`,
    replace: `throw this.unavailable`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'what fails in passing is tried for ever',
    file: DATABASE,
    find: `|| count === ATTEMPTS `,
    replace: ``,
    specs: [DATABASE_SPEC],
    only: 'after a few times',
  },
  {
    name: 'what no server has answered is asked again, for five times as long',
    file: DATABASE,
    find: `fault === 'unreached' || count === ATTEMPTS`,
    replace: `count === ATTEMPTS`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'what the driver never ends is waited for, for ever',
    file: DATABASE,
    find: `await inTime(work(), tryMs)`,
    replace: `await work()`,
    specs: [DATABASE_SPEC],
    only: 'never ends',
  },
  {
    name: 'a server that takes calls and answers none is asked five times',
    file: DATABASE,
    find: ` || performance.now() > patientUntil`,
    replace: ``,
    specs: [DATABASE_SPEC],
    only: 'ten seconds',
  },
  {
    name: 'a document that is there already fails the write that was repeated',
    file: DATABASE,
    find: `        if (faultOf(error) === 'duplicate') return false;\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'documents that could not be stored are taken for ones that are there',
    file: DATABASE,
    find: `        if (!isDuplicateOnly(error)) throw error;\n`,
    replace: ``,
    specs: [DATABASE_SPEC, MONGO_TURNS],
  },
  {
    name: 'of many documents one that is there hides that others were refused',
    file: ANSWERS,
    find: `failed.every(({ code })`,
    replace: `failed.some(({ code })`,
    specs: [DATABASE_SPEC, MONGO_TURNS],
  },
  {
    name: 'what a server says while it steps down is an error for good',
    file: ANSWERS,
    find: `    error.hasErrorLabel('RetryableWriteError') ||
    PASSING.has(Number(code));`,
    replace: `    error.hasErrorLabel('RetryableWriteError');`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a write is acknowledged that only the memory of one server has',
    file: DATABASE,
    find: `{ w: 'majority', journal: true, wtimeoutMS: 10_000 }`,
    replace: `{ w: 1, journal: false }`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'what is read may be taken back by the next primary',
    file: DATABASE,
    find: `  readConcernLevel: 'majority',\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a server that stops begins writes on',
    file: DATABASE,
    find: `      if (this.closed) throw new DomainError('UNAVAILABLE', 'The server is stopping.');\n`,
    replace: ``,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'inserts that only others of their journey failed with fail, too',
    file: GATHERED,
    find: `      if (isAlone || error instanceof DomainError) throw error;
      return documents.map(async (document) => (await insert([document]))[0]!);`,
    replace: `      throw error;`,
    specs: [GATHERED_SPEC, TURN_WRITES],
  },
  {
    name: 'of documents that were sent together one that is there makes all of them there',
    file: GATHERED,
    find: `return new Set([writeErrors].flat().map(({ index }) => index));`,
    replace: `return new Set(documents.keys());`,
    specs: [GATHERED_SPEC, TURN_WRITES, MONGO_TURNS],
  },
  {
    name: 'inserts that most of the servers have not acknowledged are taken for stored',
    file: GATHERED,
    find: ` && (isAlone || result.getWriteConcernError() === undefined);`,
    replace: `;`,
    specs: [GATHERED_SPEC, MONGO_TURNS],
  },
  {
    name: 'a question is answered by work that began before it',
    file: GATHERED,
    find: `      if (this.waiting.push({ ask, resolve, reject }) > 1) return;`,
    replace: `      if (this.underWay > 0) return void this.work([ask]).then(([answer]) => resolve(answer!), reject);
      if (this.waiting.push({ ask, resolve, reject }) > 1) return;`,
    specs: [GATHERED_SPEC],
  },
  {
    name: 'a server starts on an index that takes one name twice',
    file: BUILD,
    find: ` && (there.unique === true) === (unique === true) && isPlain`,
    replace: ` && isPlain`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'a server starts on the database of a newer one',
    file: BUILD,
    find: `note.layout > LAYOUT`,
    replace: `false`,
    specs: [DATABASE_SPEC],
  },
  {
    name: 'any token of a login can be changed for a new one',
    file: LOGINS,
    find: `{ _id: eq(id), tokenHash: eq(newestHash) }`,
    replace: `{ _id: eq(id) }`,
    specs: [LOGIN_SPEC],
    only: HERE,
  },
  {
    name: 'a rotation whose answer was lost is refused',
    file: LOGINS,
    find: `    const same = { _id: eq(id), tokenHash: eq(tokenHash) };
    return (await`,
    replace: `    return false;
    const same = { _id: eq(id), tokenHash: eq(tokenHash) };
    return (await`,
    specs: [LOGIN_SPEC],
    only: HERE,
  },
  {
    name: 'a login ends in the moment before its time',
    file: LOGINS,
    find: `{ $lt: checked(before) }`,
    replace: `{ $lte: checked(before) }`,
    specs: [LOGIN_SPEC],
    only: HERE,
  },
  {
    name: 'everybody is the first user',
    file: USERS,
    find: `return (await this.storeFirst(user)) === user.id;`,
    replace: `return this.insert(user);`,
    specs: [FIRST_SPEC, USER_SPEC],
    only: HERE,
  },
  {
    name: 'a first user whose server died before storing it is never there',
    file: USERS,
    find: `    if (!this.isFirstStored) await this.store({ id, ...first });\n`,
    replace: `    if (id === userId) await this.store({ id, ...first });\n`,
    specs: [MONGO_USERS],
    only: HERE,
  },
  {
    name: 'a key that stands is claimed by whoever comes later',
    file: KEYS,
    find: `const expired = { _id: eq(_id), claimedAt: { $lt: checked(since) } };`,
    replace: `const expired = { _id: eq(_id) };`,
    specs: [KEY_SPEC],
    only: HERE,
  },
  {
    name: 'a key that has just not expired is claimed anew',
    file: KEYS,
    find: `claimedAt: { $lt: checked(since) }`,
    replace: `claimedAt: { $lte: checked(since) }`,
    specs: [KEY_SPEC],
    only: HERE,
  },
  {
    name: 'a key that has expired is still found',
    file: KEYS,
    find: `, claimedAt: { $gte: checked(since) } };`,
    replace: ` };`,
    specs: [KEY_SPEC],
    only: HERE,
  },
  {
    name: 'who means an earlier claim takes out the root of another',
    file: ROOTS,
    find: `, rootId: eq(rootId), claimedAt: eq(claimedAt) };`,
    replace: `, rootId: eq(rootId) };`,
    specs: [ROOT_SPEC],
    only: HERE,
  },
  {
    name: 'an older connection takes the place of a newer one',
    file: CLIENTS,
    find: `known === null || !isNewer(client, known)`,
    replace: `known === null`,
    specs: [CLIENT_SPEC],
    only: HERE,
  },
  {
    name: 'the end of an older connection is that of the newer one',
    file: CLIENTS,
    find: `, connectionId: eq(connectionId), leftAt`,
    replace: `, leftAt`,
    specs: [CLIENT_SPEC],
    only: HERE,
  },
  {
    name: 'of two folders that are reported at once one is forgotten',
    file: CLIENTS,
    find: `const same = { _id: eq(known._id), revision: eq(known.revision) };`,
    replace: `const same = { _id: eq(known._id) };`,
    specs: [CLIENT_SPEC],
    only: HERE,
  },
  {
    name: 'a session that was sent again and perhaps not counted is not counted again',
    file: SESSIONS,
    find: `    } else {
      this.usage.doubt(workspaceId);
    }`,
    replace: `    }`,
    specs: [BAD_LINE],
    only: 'leaves sessions.insert',
  },
  {
    name: 'Active Files that were perhaps replaced before are counted wrong for good',
    file: SESSIONS,
    find: `    if (tries > 1) this.usage.doubt(workspaceId);\n`,
    replace: ``,
    specs: [BAD_LINE],
    only: 'leaves sessions.replaceActiveFiles',
  },
  {
    name: 'each page of sessions begins with the last one of the page before',
    file: SESSIONS,
    find: `id: { $lt: id }`,
    replace: `id: { $lte: id }`,
    specs: [SESSION_SPEC],
    only: HERE,
  },
  {
    name: 'of two who change a workspace the second undoes the first',
    file: WORKSPACES,
    find: `{ _id: eq(id), version: eq(expectedVersion) }`,
    replace: `{ _id: eq(id) }`,
    specs: [WORKSPACE_SPEC],
    only: HERE,
  },
  {
    name: 'a save of a workspace whose answer was lost is a conflict',
    file: WORKSPACES,
    find: `matchedCount === 1 || isDeepStrictEqual(await this.byId(id), { ...workspace, version })`,
    replace: `matchedCount === 1`,
    specs: [WORKSPACE_SPEC],
    only: HERE,
  },
  {
    name: 'a removal is forgotten with the one before it',
    file: WORKSPACES,
    find: `{ userId: eq(userId), removedAt: { $lte: checked(removedAt) } }`,
    replace: `{ userId: eq(userId) }`,
    specs: [WORKSPACE_SPEC],
    only: HERE,
  },
  {
    name: 'each page of workspaces begins with the last one of the page before',
    file: WORKSPACES,
    find: `_id: { $gt: _id }`,
    replace: `_id: { $gte: _id }`,
    specs: [WORKSPACE_SPEC],
    only: HERE,
  },
  {
    name: 'of two who save a turn the second undoes the first',
    file: TURNS,
    find: `{ _id: eq(_id), version: eq(before.version), ...changes.expected }`,
    replace: `{ _id: eq(_id), ...changes.expected }`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'a second result takes the place of the first',
    file: TURNS,
    find: `{ _id: eq(_id), version: eq(before.version), ...changes.expected }`,
    replace: `{ _id: eq(_id), version: eq(before.version) }`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'edited arguments take the place of those before',
    file: TURN_DOCUMENTS,
    find: `    if (fields.edited !== undefined) changes.expected[\`\${call}.edited\`] = eq(NONE);\n`,
    replace: ``,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'a save leaves its events out of the trail',
    file: TURNS,
    find: `$push: { ...outbox.$push, texts }`,
    replace: `$push: { texts }`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'a save does not say that it put something into its outbox, and that is emptied with it',
    file: TURNS,
    find: `$inc: { ...outbox.$inc, outboxBytes: bytesIn(drafts) }`,
    replace: `$inc: { outboxBytes: bytesIn(drafts) }`,
    specs: [TURN_WRITES, MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'a new turn leaves its events out of the trail',
    file: TURNS,
    find: `const outbox = outboxWith(workspaceId, events, drafts);`,
    replace: `const outbox = outboxWith(workspaceId, [], []);`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'events of a new turn wait until somebody asks for them',
    file: TURNS,
    find: `    if (events.length > 0) this.projector.wake(workspaceId);
    return turn;`,
    replace: `    return turn;`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'who came second with a name is told that its turn stands',
    file: TURNS,
    find: `if (standing.calls[0]!.callId !== firstCallId) {`,
    replace: `if (false) {`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'a turn that was refused leaves its texts',
    file: TURNS,
    find: `        await this.texts.discard(values);
        return standing;`,
    replace: `        return standing;`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'a turn refers to texts that could not be stored',
    file: TURNS,
    find: `    await this.texts.put(_id, values);
    const isNew`,
    replace: `    void this.texts.put(_id, values).catch(() => undefined);
    const isNew`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'a save refers to texts that could not be stored',
    file: TURNS,
    find: `    await this.texts.put(_id, values);
    for (let drains`,
    replace: `    void this.texts.put(_id, values).catch(() => undefined);
    for (let drains`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'texts of a save whose first answer was lost go',
    file: TURNS,
    find: `        if (!isMine) await this.texts.discard(values);`,
    replace: `        await this.texts.discard(values);`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'texts of a save that lost its race stay',
    file: TURNS,
    find: `        if (!isMine) await this.texts.discard(values);\n`,
    replace: ``,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'a save whose answer was lost is answered as one that lost its race',
    file: TURNS,
    find: `(!isMine && !isStored(current, turn))`,
    replace: `!isMine`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'who loses the race for a call is told that its save was made',
    file: TURN_DOCUMENTS,
    find: `  return turn.calls.every((call, at) => stored.calls[at]!.state === JSON.stringify(call));`,
    replace: `  return true;`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'who loses the race for a turn is told that its save was made',
    file: TURN_DOCUMENTS,
    find: ` || stored.state !== headOf(turn).state) return false;`,
    replace: `) return false;`,
    specs: [TURN_WRITES],
    only: HERE,
  },
  {
    name: 'the outbox of a turn grows beyond what a document holds',
    file: TURNS,
    find: `    if (events.length > 0) expected.outboxBytes = { $lt: OUTBOX_BYTES };\n`,
    replace: ``,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'an outbox that came to be full again counts as empty',
    file: TURNS,
    find: `version: eq(before.version), pendingIn: eq(null) };`,
    replace: `version: eq(before.version) };`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'a turn that has ended stays among the open ones',
    file: TURN_DOCUMENTS,
    find: `openIn: isOpen ? turn.workspaceId : null`,
    replace: `openIn: turn.workspaceId`,
    specs: [TURN_READS, OPEN_LISTS],
    only: HERE,
  },
  {
    name: 'the lease of a turn that has ended is told of',
    file: TURN_DOCUMENTS,
    find: `isOpen && turn.lease !== null`,
    replace: `turn.lease !== null`,
    specs: [TURN_READS],
    only: HERE,
  },
  {
    name: 'a turn that is due in this very millisecond is not told of',
    file: OPEN,
    find: `{ $lte: checked(time) }`,
    replace: `{ $lt: checked(time) }`,
    specs: [TURN_READS],
    only: HERE,
  },
  {
    name: 'each page of open turns begins with the last one of the page before',
    file: OPEN,
    find: `firstCallId: { $gt: firstCallId }`,
    replace: `firstCallId: { $gte: firstCallId }`,
    specs: [OPEN_LISTS],
    only: HERE,
  },
  {
    name: 'texts of a turn that is stored go with the sweep',
    file: TEXTS,
    find: `namesOf.get(turn)?.has(name) ?? false`,
    replace: `false`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'texts that a turn did not come to have stay, as it has others',
    file: TEXTS,
    find: `namesOf.get(turn)?.has(name) ?? false`,
    replace: `namesOf.has(turn)`,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'the sweep looks at the texts of every turn each time',
    file: TEXTS,
    find: `    await this.database.attempt(() => this.texts.updateMany(kept, { $set: { looseSince: null } }));\n`,
    replace: ``,
    specs: [MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'values that share a piece are cut',
    file: TEXTS,
    find: `    values.close();\n`,
    replace: ``,
    specs: [TEXT_SPEC, MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'bytes that another server counts at the same time are lost',
    file: TURN_BYTES,
    find: `      await add();
      return;`,
    replace: `      return;`,
    specs: [MONGO_BYTES],
    only: HERE,
  },
  {
    name: 'events of an update wait for nobody',
    file: OUTBOX,
    find: `$set: { pendingIn: workspaceId }`,
    replace: `$set: {}`,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'an outbox is emptied of what came into it meanwhile',
    file: OUTBOXES,
    find: `const filter = { _id: eq(_id), outboxWrites: eq(outboxWrites) };`,
    replace: `const filter = { _id: eq(_id) };`,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'of an outbox into which something came the rest goes with what was taken',
    file: OUTBOXES,
    find: `update: { $pull: { outbox: { eventId: { $in: eventIds } } } }`,
    replace: `update: { $set: { outbox: [] } }`,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'what waits with the files is not waited for',
    file: OUTBOXES,
    find: `return found.some((one) => one !== null);`,
    replace: `return found[0] !== null;`,
    specs: [MONGO_PROJECTOR, FILE_SPEC],
  },
  {
    name: 'an outbox is emptied before the trail has it',
    file: PROJECTOR,
    find: `      await this.trail.append(workspaceId, isLast ? [...events, ...drafts] : events);
      await this.outboxes.take(ready);`,
    replace: `      await this.outboxes.take(ready);
      await this.trail.append(workspaceId, isLast ? [...events, ...drafts] : events);`,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'an outbox is never emptied',
    file: PROJECTOR,
    find: `      await this.outboxes.take(ready);\n`,
    replace: ``,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'events of several aggregates stand aggregate by aggregate',
    file: PROJECTOR,
    find: `  placed.sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));\n`,
    replace: ``,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'events of one aggregate stand by a clock that was set back',
    file: PROJECTOR,
    find: `      if (draft.eventId > place) place = draft.eventId;`,
    replace: `      place = draft.eventId;`,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'what was made while the outboxes were looked through comes before its cause',
    file: PROJECTOR,
    find: `(eventId > began && eventId < ended) || `,
    replace: ``,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'events come before older ones that a look had no room for',
    file: PROJECTOR,
    find: ` || (more !== null && eventId >= more.oldest)`,
    replace: ``,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'who waits for the trail does not',
    file: PROJECTOR,
    find: `if (await this.outboxes.isWaiting(workspaceId)) await this.run(workspaceId).done;`,
    replace: `if (await this.outboxes.isWaiting(workspaceId)) void this.run(workspaceId).done;`,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'a run that has begun is the one that what comes later waits for',
    file: PROJECTOR,
    find: `        this.runs.delete(workspaceId);
        await this.project(workspaceId, drafts);`,
    replace: `        await this.project(workspaceId, drafts);
        this.runs.delete(workspaceId);`,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'two runs of a workspace are at once',
    file: PROJECTOR,
    find: `const work = this.locks.hold([workspaceId], async () => {`,
    replace: `const work = ((run: () => Promise<void>) => run())(async () => {`,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'after some runs nothing comes into the trail any more',
    file: PROJECTOR,
    find: `        this.free += 1;\n`,
    replace: ``,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'a server that stops breaks off what comes into the trail',
    file: PROJECTOR,
    find: `    while (this.busy.size > 0) await Promise.all(this.busy);\n`,
    replace: ``,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'what a dead server left in an outbox stays there',
    file: PROJECTOR,
    find: `    sweep();\n    this.timer = setInterval(sweep, SWEEP_MS).unref();`,
    replace: ``,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'a batch whose middle is refused leaves numbers out',
    file: TRAIL,
    find: `{ ordered: true }`,
    replace: `{ ordered: false }`,
    specs: [MONGO_TRAIL],
  },
  {
    name: 'events that are there already keep the others out',
    file: TRAIL,
    find: `const missing = drafts.filter(({ eventId }) => !there.has(eventId));`,
    replace: `const missing = there.size === drafts.length ? [] : drafts;`,
    specs: [MONGO_PROJECTOR],
  },
  {
    name: 'a page of the trail lacks what was acknowledged before',
    file: AUDIT,
    find: `    await this.projector.drain(workspaceId);
    const { index, of, rest }`,
    replace: `    const { index, of, rest }`,
    specs: [AUDIT_SPEC],
    only: HERE,
  },
  {
    name: 'the latest successes lack what was acknowledged before',
    file: AUDIT,
    find: `    await this.projector.drain(workspaceId);
    const { index, of } =`,
    replace: `    const { index, of } =`,
    specs: [AUDIT_SPEC, MONGO_TURNS],
    only: HERE,
  },
  {
    name: 'each page of the trail begins with the last event of the page before',
    file: AUDIT,
    find: `const seq = { $gt: checked(afterSeq),`,
    replace: `const seq = { $gte: checked(afterSeq),`,
    specs: [AUDIT_SPEC],
    only: HERE,
  },
  {
    name: 'a search that looked at all it may says that there is no more',
    file: AUDIT,
    find: `events.at(-1)!.seq : to }`,
    replace: `events.at(-1)!.seq : null }`,
    specs: [AUDIT_SPEC],
    only: HERE,
  },
  {
    name: 'of two writers who saw the same revision of a file both win',
    file: FILES,
    find: `{ kind: eq('file'), revision: eq(expectedRevision) }`,
    replace: `{ kind: eq('file') }`,
    specs: [FILE_SPEC, FILE_RACES],
    only: HERE,
  },
  {
    name: 'a folder that was removed is removed again, by another',
    file: FILES,
    find: `{ kind: eq('folder'), isLive: eq(true) }`,
    replace: `{ kind: eq('folder') }`,
    specs: [FOLDER_SPEC],
    only: HERE,
  },
  {
    name: 'a file that was perhaps made before and not counted is never counted',
    file: FILES,
    find: `    if (isMade) this.usage.doubt(workspaceId);\n`,
    replace: ``,
    specs: [BAD_LINE],
    only: 'leaves files.(insert|commitVersion|removeFolder)',
  },
  {
    name: 'a file is in a folder that is not listed',
    file: FILES,
    find: `    if (deletedAt === null) await this.folders.spell(workspaceId, path, docPath);\n`,
    replace: ``,
    specs: [FOLDER_SPEC],
    only: HERE,
  },
  {
    name: 'a server that dies in a write leaves no note that it was counting',
    file: FILES,
    find: `    await this.usage.begin(workspaceId);
    if (deletedAt`,
    replace: `    if (deletedAt`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'of files that were deleted at one path the next page has the last one again',
    file: FILES,
    find: `id: { $gt: checked(after.id) }`,
    replace: `id: { $gte: checked(after.id) }`,
    specs: [FILE_SPEC],
    only: HERE,
  },
  {
    name: 'two spellings of one path are two files',
    file: ENTRIES,
    find: `const place = isLive ? livePlace(workspaceId, docPath)`,
    replace: `const place = isLive ? livePlace(workspaceId, path)`,
    specs: [FILE_SPEC, FOLDER_SPEC],
    only: HERE,
  },
  {
    name: 'the outbox of a file grows without end',
    file: WRITES,
    find: `const filter = { _id, ...expected, [FULL]: { $exists: false } };`,
    replace: `const filter = { _id, ...expected };`,
    specs: [MONGO_FILES],
  },
  {
    name: 'events of a file wait until somebody asks for them',
    file: WRITES,
    find: `      if (events.length > 0) this.projector.wake(name.workspaceId);
      return before;`,
    replace: `      return before;`,
    specs: [MONGO_FILES],
  },
  {
    name: 'a file that moves to a taken path is an internal error',
    file: WRITES,
    find: `        if (faultOf(error) === 'duplicate') return null;\n`,
    replace: ``,
    specs: [FILE_SPEC],
    only: HERE,
  },
  {
    name: 'a write whose event is in the trail already is refused when it is sent again',
    file: WRITES,
    find: `(await this.exists(waiting)) || this.trail.has(eventId)`,
    replace: `this.exists(waiting)`,
    specs: [FILE_SPEC, FOLDER_SPEC],
    only: HERE,
  },
  {
    name: 'a write whose event waits is refused when it is sent again',
    file: WRITES,
    find: `(await this.exists(waiting)) || this.trail.has(eventId)`,
    replace: `this.trail.has(eventId)`,
    specs: [FILE_SPEC, FOLDER_SPEC],
    only: HERE,
  },
  {
    name: 'old versions of a file are taken out of it before they are elsewhere',
    file: VERSIONS,
    find: `    await this.database.insertNew(this.versions, documents);\n`,
    replace: ``,
    specs: [FILE_SPEC],
    only: HERE,
  },
  {
    name: 'a version that comes while older ones are moved is lost',
    file: VERSIONS,
    find: `{ fresh: { number: { $lte: last } } }`,
    replace: `{ fresh: { number: { $gt: 0 } } }`,
    specs: [MONGO_FILES],
  },
  {
    name: 'versions that are moved meanwhile are in no list',
    file: VERSIONS,
    find: `    const fresh = await this.freshOf(workspaceId, fileId);
    const settled = await this.settled(
      { workspaceId: eq(workspaceId), fileId: eq(fileId), number: { $lt: older } },
      { number: -1 },
      limit,
    );`,
    replace: `    const settled = await this.settled(
      { workspaceId: eq(workspaceId), fileId: eq(fileId), number: { $lt: older } },
      { number: -1 },
      limit,
    );
    const fresh = await this.freshOf(workspaceId, fileId);`,
    specs: [MONGO_FILES],
  },
  {
    name: 'the last version of a page is on the next one, too',
    file: VERSIONS,
    find: `fresh.filter(({ number }) => number < older)`,
    replace: `fresh.filter(({ number }) => number <= older)`,
    specs: [FILE_SPEC],
    only: HERE,
  },
  {
    name: 'the spelling of a folder goes while somebody comes to need it',
    file: FOLDERS,
    find: `const unchanged = { _id: eq(_id), looseSince: eq(looseSince) };`,
    replace: `const unchanged = { _id: eq(_id) };`,
    specs: [MONGO_FILES],
    only: HERE,
  },
  {
    name: 'a spelling that is about to go is taken for one that stays',
    file: FOLDERS,
    find: `    await this.database.attempt(() => this.spellings.updateMany(loose, { $set: { looseSince: now } }));\n`,
    replace: ``,
    specs: [MONGO_FILES, FOLDER_RACES],
    only: HERE,
  },
  {
    name: 'bytes that somebody has come for since go with the sweep',
    file: BLOBS,
    find: `return { _id: eq(_id), revision: eq(revision) };`,
    replace: `return { _id: eq(_id) };`,
    specs: [MONGO_SWEEPS],
  },
  {
    name: 'a sweep is not told that somebody has come',
    file: BLOBS,
    find: `$max: { checkAt: checked(now) }, $inc: { revision: 1 } };`,
    replace: `$max: { checkAt: checked(now) } };`,
    specs: [MONGO_SWEEPS],
  },
  {
    name: 'bytes that are put again keep their mark, and go',
    file: BLOBS,
    find: `{ $set: { markedAt: null }, $max:`,
    replace: `{ $max:`,
    specs: [BLOB_SPEC],
    only: HERE,
  },
  {
    name: 'bytes that versions refer to go, as only those in files are looked at',
    file: BLOBS,
    find: `    return (
      (await this.database.attempt(() => this.entries.findOne(fresh, { _id: 1 }).lean())) !== null ||
      (await this.database.attempt(() => this.versions.findOne(settled, { _id: 1 }).lean())) !== null
    );`,
    replace: `    return (await this.database.attempt(() => this.entries.findOne(fresh, { _id: 1 }).lean())) !== null;`,
    specs: [BLOB_SPEC, FILE_SPEC, MONGO_FILES],
    only: HERE,
  },
  {
    name: 'bytes go whose version is moved while the sweep looks for it',
    file: BLOBS,
    find: `      (await this.database.attempt(() => this.entries.findOne(fresh, { _id: 1 }).lean())) !== null ||
      (await this.database.attempt(() => this.versions.findOne(settled, { _id: 1 }).lean())) !== null`,
    replace: `      (await this.database.attempt(() => this.versions.findOne(settled, { _id: 1 }).lean())) !== null ||
      (await this.database.attempt(() => this.entries.findOne(fresh, { _id: 1 }).lean())) !== null`,
    specs: [MONGO_SWEEPS],
  },
  {
    name: 'marked bytes go although a version has come to refer to them',
    file: BLOB_STORE,
    find: `      if (await this.kept.isReferred(blob)) await`,
    replace: `      if (false) await`,
    specs: [MONGO_SWEEPS],
  },
  {
    name: 'bytes that are about to go are told to be there',
    file: BLOB_STORE,
    find: `state === 'here' && markedAt === null`,
    replace: `state === 'here'`,
    specs: [BLOB_SPEC, SWEEP_SPEC],
    only: HERE,
  },
  {
    name: 'bytes that are not there whole are told to be there',
    file: BLOB_STORE,
    find: `state === 'here' && markedAt === null`,
    replace: `markedAt === null`,
    specs: [MONGO_FILES],
    only: HERE,
  },
  {
    name: 'bytes go in the moment in which they were marked',
    file: BLOB_STORE,
    find: `{ $lt: checked(markedBefore) }`,
    replace: `{ $lte: checked(markedBefore) }`,
    specs: [BLOB_SPEC],
    only: HERE,
  },
  {
    name: 'parts of bytes stay whose document went first',
    file: BLOBS,
    find: `    if (blob.size > INLINE_BYTES) await this.parts.remove(ownerOf(blob));\n`,
    replace: ``,
    specs: [MONGO_FILES],
    only: HERE,
  },
  {
    name: 'parts of bytes go with those of another generation',
    file: BLOBS,
    find: `  return keyOf(ROOM, _id, generation);`,
    replace: `  return keyOf(ROOM, _id, '');`,
    specs: [MONGO_FILES],
    only: HERE,
  },
  {
    name: 'bytes whose removal was perhaps made before are counted on',
    file: BLOBS,
    find: `        this.usage.doubt(blob.workspaceId);
      }
    }
    await`,
    replace: `      }
    }
    await`,
    specs: [BAD_LINE],
    only: 'leaves blobs.removeMarked',
  },
  {
    name: 'bytes that are removed are counted on',
    file: BLOBS,
    find: `        if (blob.state === 'here')
          this.usage.count(blob.workspaceId, blob.holder, { bytes: -blob.size }, since);\n`,
    replace: ``,
    specs: [USAGE_SPEC],
    only: HERE,
  },
  {
    name: 'bytes are given of which a part is missing',
    file: PARTS,
    find: `return bytes.length === length ? bytes : null;`,
    replace: `return bytes;`,
    specs: [MONGO_FILES],
  },
  {
    name: 'a batch that is there half is found',
    file: PATCHES,
    find: `const whole = { ...filter, whole: eq(true) };`,
    replace: `const whole = filter;`,
    specs: [MONGO_PATCHES],
    only: HERE,
  },
  {
    name: 'a batch that was made whole again counts twice',
    file: PATCHES,
    find: `const unfinished = { _id: eq(_id), whole: eq(false) };`,
    replace: `const unfinished = { _id: eq(_id) };`,
    specs: [MONGO_PATCHES],
  },
  {
    name: 'a batch goes before its parts, and they stay when the server dies in between',
    file: PATCHES,
    find: `    await this.database.attempt(() => this.patchIds.deleteMany({ batch: eq(_id) }));
    for (const owner of [recordOf(_id), pathsOf(_id)]) await this.parts.remove(owner);
    await this.database.attempt(() => this.patches.deleteOne({ _id: eq(_id) }));`,
    replace: `    await this.database.attempt(() => this.patches.deleteOne({ _id: eq(_id) }));
    await this.database.attempt(() => this.patchIds.deleteMany({ batch: eq(_id) }));
    for (const owner of [recordOf(_id), pathsOf(_id)]) await this.parts.remove(owner);`,
    specs: [MONGO_PATCHES],
  },
  {
    name: 'a batch whose turn is stored goes with the sweep',
    file: PATCHES,
    find: `if (!turns.has(turn)) await this.drop(_id);`,
    replace: `await this.drop(_id);`,
    specs: [PATCH_SPEC],
    only: HERE,
  },
  {
    name: 'a user is twice in the counts of a workspace',
    file: COUNTER,
    find: `{ _id, 'members.userId': { $ne: userId } },`,
    replace: `{ _id },`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'a count that could not be written is forgotten',
    file: COUNTER,
    find: `    } catch {
      this.doubt(workspaceId);
    }`,
    replace: `    } catch {}`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'counts that wait are lost when the server stops',
    file: COUNTER,
    find: `      await this.flush();
      await this.noteDoubts();
      await this.database.attempt(() => this.counting.deleteMany({ process`,
    replace: `      await this.noteDoubts();
      await this.database.attempt(() => this.counting.deleteMany({ process`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'a workspace in doubt is none once its note has failed',
    file: COUNTER,
    find: `      await this.note(workspaceId, 'doubt', 0);
      this.doubts.delete(workspaceId);`,
    replace: `      this.doubts.delete(workspaceId);
      await this.note(workspaceId, 'doubt', 0);`,
    specs: [MONGO_USAGE],
    only: 'in doubt',
  },
  {
    name: 'a server is counting before it has noted so',
    file: COUNTER,
    find: `      await noted.note;\n`,
    replace: `      void noted.note;\n`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'a recount does not see that somebody counted meanwhile',
    file: COUNTER,
    find: `const ofAll = { ...more, revision: 1 };`,
    replace: `const ofAll = { ...more };`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'what was recounted before its count came is counted twice',
    file: COUNTER,
    find: `if (isLate && recountedAt > since - CLOCKS_MS) this.doubt(workspaceId);`,
    replace: ``,
    specs: [MONGO_USAGE],
    only: 'so late',
  },
  {
    name: 'a write whose answer is late is taken for one that began when that came',
    file: FILES,
    find: `    const since = Date.now();
    if (!isHeld || !(await this.writes.insert(documentOf(file), [head], events))) {`,
    replace: `    const since = Date.now() + 10_000;
    if (!isHeld || !(await this.writes.insert(documentOf(file), [head], events))) {`,
    specs: [MONGO_FILES],
    only: 'so late',
  },
  {
    name: 'a recount undoes what was counted meanwhile',
    file: RECOUNT,
    find: `const unchanged = { _id, revision: eq(before!.revision) };`,
    replace: `const unchanged = { _id };`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'a recount counts versions twice that are about to be moved',
    file: RECOUNT,
    find: `return fresh.filter(({ _id }) => !settled.has(_id)).map(`,
    replace: `return fresh.map(`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'a recount that did not come to an end counts as done',
    file: RECOUNT,
    find: `      if (!(await this.count(workspaceId))) continue;\n`,
    replace: `      await this.count(workspaceId);\n`,
    specs: [MONGO_USAGE],
  },
  {
    name: 'texts that no turn came to have are never swept',
    file: SWEEP,
    find: `      while (await this.texts.removeOrphans(before, BATCH));\n`,
    replace: ``,
    specs: [MONGO_SWEEPS],
  },
  {
    name: 'what was written a moment ago is swept before its turn comes',
    file: SWEEP,
    find: `const before = Date.now() - GRACE_MS;`,
    replace: `const before = Date.now() + GRACE_MS;`,
    specs: [MONGO_SWEEPS],
  },
  {
    name: 'each round of the sweep looks at the same parts',
    file: SWEEP,
    find: `      this.lastBlob = (await this.blobs.removeOrphanParts(this.lastBlob, BATCH)) ?? '';`,
    replace: `      await this.blobs.removeOrphanParts(this.lastBlob, BATCH);`,
    specs: [MONGO_SWEEPS],
  },
];
