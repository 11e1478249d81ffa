import { withOtherMethods } from '../contract/other-methods.js';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose, { type Connection } from 'mongoose';
import { TransferStores } from '../../src/storage/mongo/transfer-stores.js';
import { MongoTransferTarget } from '../../src/storage/mongo/transfer-target.js';
import { importLines } from '../../src/storage/transfer/import.js';
import type { RecordTarget } from '../../src/storage/transfer/store.js';
import { admin } from '../support/admin.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { startTestServer } from '../support/server.js';
import { usedWorkspace } from '../support/used-workspace.js';

import.meta.jest.setTimeout(180_000);

type Document = { _id: string; [field: string]: unknown };
/** What is done to one document; null takes it away. */
type Damage = (document: Document) => object | null;

const gone: Damage = () => null;
const set = (field: string, value: unknown) => (): object => ({ [field]: value });
const edit =
  (field: string, change: (text: string) => string): Damage =>
  (document) => ({ [field]: change(document[field] as string) });

/** Of the first call of a turn. */
const edited =
  (field: string): Damage =>
  ({ calls }) => {
    const [first, ...others] = calls as object[];
    return { calls: [{ ...first, [field]: '{}' }, ...others] };
  };

/** One thing each, in one document that the filter finds, and what the verification says of it. */
const DAMAGES: [what: string, collection: string, filter: object, damage: Damage, said: RegExp][] = [
  [
    'another name of a user',
    'users',
    {},
    set('fullName', 'Somebody else'),
    /^users: 3 were imported, 3 read back/,
  ],
  ['a login that is missing', 'logins', {}, gone, /^logins: /],
  ['a member that is missing', 'workspaces', {}, set('members', []), /^workspaces: /],
  [
    'another tool contract',
    'contracts',
    {},
    edit('contract', (text) => text.replace('"description":"', '$&Not: ')),
    /^contracts: /,
  ],
  [
    'other open files of a session',
    'active_files',
    { files: /cloud/ },
    set('files', '[]'),
    /^active files: /,
  ],
  ['a session with other tools', 'sessions', { tools: /write/ }, set('tools', '["read"]'), /^sessions: /],
  ['a first user that is missing', 'first_user', {}, gone, /^first user: /],
  ['a client that is missing', 'clients', {}, gone, /^clients: /],
  ['a root of another user', 'roots', {}, set('userId', 'somebody'), /^roots: /],
  ['an idempotency key that is missing', 'idempotency_keys', {}, gone, /^idempotency keys: /],
  [
    'other bytes of a small file',
    'blobs',
    { size: { $gt: 0, $lt: 100 } },
    set('bytes', Buffer.from('?')),
    /^blobs: .* The bytes of /,
  ],
  [
    'a part of a large file that is missing',
    'parts',
    { _id: /blob/ },
    gone,
    /^blobs: .* The bytes of .* are damaged/,
  ],
  ['another revision of a file', 'entries', { kind: 'file' }, set('revision', 99), /^files and folders: /],
  ['a version that is missing', 'versions', { number: 7 }, gone, /^versions: /],
  [
    'another patch',
    'patches',
    { record: /louder/ },
    edit('record', (text) => text.replace('louder', 'softer')),
    /^patch batches: /,
  ],
  [
    'an open turn that is another',
    'turns',
    { openIn: { $ne: null } },
    edit('state', (text) => text.replace('"open"', '"completed"')),
    /^turns: /,
  ],
  [
    'another result of a call',
    'turns',
    { callCount: 1, 'calls.result': /path/ },
    edited('result'),
    /^turns: /,
  ],
  ['other arguments of a call', 'turns', { callCount: 1 }, edited('arguments'), /^turns: /],
  ['edited arguments that are missing', 'turns', { 'calls.edited': /person/ }, edited('edited'), /^turns: /],
  [
    'a long text that is missing',
    'turn_texts',
    {},
    gone,
    /^turns: .* cannot be read back: A piece of a turn's text is not there/,
  ],
  ['an audit event that is missing', 'audit_events', { seq: 3 }, gone, /^audit events: /],
  ['another number of an audit event', 'audit_events', { seq: 3 }, set('seq', 1_000_000), /^audit events: /],
  ['another count', 'usage', {}, set('files', 1), /^usage counts: /],
];

describeOnMongo('patchbay-admin import reads back what it has stored, so', () => {
  let directory: string;
  let file: string;
  let database: ReturnType<typeof aDatabaseOn>;
  let connection: Connection;
  let stored: RecordTarget;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-damage-'));
    file = join(directory, 'export.ndjson');
    database = aDatabaseOn(MONGO_SERVER!);
    const server = await startTestServer({ config: { dataDir: directory, mongodbUri: null } });
    await usedWorkspace(server);
    await server.close();
    await admin(['export', file], { PATCHBAY_DATA_DIR: directory });
    await admin(['import', file], { PATCHBAY_MONGODB_URI: database.uri });
    connection = await mongoose.createConnection(database.uri).asPromise();
    stored = new MongoTransferTarget(await TransferStores.open(connection));
  });
  afterAll(async () => {
    await connection.close();
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  /** Goes through an import into the store that has been filled. */
  const verified = (): Promise<unknown> => {
    const records = withOtherMethods(stored.records, { insert: () => Promise.resolve('exists') });
    const target: RecordTarget = {
      ...{ records, write: () => Promise.resolve() },
      read: (kind) => stored.read(kind),
    };
    return importLines(createReadStream(file), target, () => undefined);
  };

  it.each(DAMAGES)('%s is named', async (_what, collection, filter, damage, said) => {
    const documents = connection.collection<Document>(collection);
    const before = (await documents.findOne(filter))!;
    const change = damage(before);
    if (change === null) await documents.deleteOne({ _id: before._id });
    else await documents.replaceOne({ _id: before._id }, { ...before, ...change });
    const fault = await verified().then(() => null, String);
    await documents.replaceOne({ _id: before._id }, before, { upsert: true });
    expect(fault?.replace(/^(Transfer)?Error: /, '')).toMatch(said);
  });

  it('the same without damage is sound', async () => {
    await expect(verified()).resolves.toBeDefined();
  });
});
