import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose, { type Connection } from 'mongoose';
import { intoDatabase } from '../../src/storage/mongo/move-database.js';
import { move, type RecordTarget } from '../../src/storage/move/move.js';
import { fromDirectory } from '../../src/storage/sqlite/move-directory.js';
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
    /^users: 3 were moved, 3 read back/,
  ],
  ['a login that is missing', 'logins', {}, gone, /^logins: /],
  ['a member that is missing', 'workspaces', {}, set('members', []), /^workspaces: /],
  ['another tool contract', 'contracts', {}, edit('contract', (text) => `${text} `), /^tool contracts: /],
  [
    'a session without its open files',
    'sessions',
    { activeFiles: /cloud/ },
    set('activeFiles', '[]'),
    /^sessions: /,
  ],
  ['a session with other tools', 'sessions', { 'tools.1': 'write' }, set('tools', ['read']), /^sessions: /],
  ['a client that is missing', 'clients', {}, gone, /^clients: /],
  [
    'other bytes of a small file',
    'blobs',
    { size: { $gt: 0, $lt: 100 } },
    set('bytes', Buffer.from('?')),
    /^The bytes of /,
  ],
  [
    'a part of a large file that is missing',
    'parts',
    { _id: /blob/ },
    gone,
    /^The bytes of .* did not come over whole/,
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
    /^turns: .* can not be read back: A piece of a turn's text is not there/,
  ],
  ['an audit event that is missing', 'audit_events', { seq: 3 }, gone, /^audit events: /],
  ['another number of an audit event', 'audit_events', { seq: 3 }, set('seq', 1_000_000), /^audit events: /],
  ['another count', 'usage', {}, set('files', 1), /^usage counts: /],
];

describeOnMongo('what patchbay-admin migrate has written is read back, so', () => {
  let dataDir: string;
  let database: ReturnType<typeof aDatabaseOn>;
  let connection: Connection;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'patchbay-damage-'));
    database = aDatabaseOn(MONGO_SERVER!);
    connection = await mongoose.createConnection(database.uri).asPromise();
    const server = await startTestServer({ config: { dataDir, mongodbUri: null } });
    await usedWorkspace(server);
    await server.close();
  });
  afterAll(async () => {
    await connection.close();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Moves what is not there yet; between the last write and the first look back `damage` is done. */
  const moveWith = (damage: () => Promise<void>): Promise<void> =>
    fromDirectory(dataDir, (source, name) =>
      intoDatabase(database.uri, name, async (target) => {
        let isDone = false;
        const damaged: RecordTarget = {
          count: (kind) => target.count(kind),
          write: (kind, records) => target.write(kind, records),
          async *read(kind) {
            if (!isDone) await damage();
            isDone = true;
            yield* target.read(kind);
          },
        };
        await move(source, damaged, () => undefined);
      }),
    );

  it.each(DAMAGES)('%s is named', async (_what, collection, filter, damage, said) => {
    const documents = connection.collection<Document>(collection);
    let before!: Document;
    const fault = await moveWith(async () => {
      before = (await documents.findOne(filter))!;
      const change = damage(before);
      if (change === null) await documents.deleteOne({ _id: before._id });
      else await documents.replaceOne({ _id: before._id }, { ...before, ...change });
    }).then(() => null, String);
    await documents.replaceOne({ _id: before._id }, before, { upsert: true });
    expect(fault?.replace(/^(Move)?Error: /, '')).toMatch(said);
  });

  it('the same without damage is sound', async () => {
    await expect(moveWith(() => Promise.resolve())).resolves.toBeUndefined();
  });
});
