import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import mongoose, { type Connection } from 'mongoose';
import { ofDatabase, ofDirectory } from '../../src/storage/transfer/checking.js';
import { shownUri } from '../../src/storage/transfer/shown-uri.js';
import { admin } from '../support/admin.js';
import { describeEmbedded } from '../support/backend.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { usedWorkspace } from '../support/used-workspace.js';

import.meta.jest.setTimeout(180_000);

describeEmbedded('patchbay-admin check of a data directory', () => {
  /** Statements that do one damage each, and what is said of it. */
  const DAMAGES: [what: string, sql: string, said: RegExp][] = [
    [
      'an audit event that is missing',
      'DELETE FROM trail WHERE seq <= 3 AND last_seq >= 3',
      /missing from a trail.*\n.*: [23] to \d+/,
    ],
    [
      'audit events that are missing at the beginning',
      'DELETE FROM trail WHERE seq = 1',
      /missing from a trail.*\n.*: 1 to \d+/,
    ],
    [
      'bytes that are others',
      "UPDATE blobs SET bytes = x'00' WHERE id = (SELECT min(id) FROM blobs)",
      /Bytes do not match their hash \(1\)/,
    ],
    [
      'an index that is missing',
      'DROP INDEX turns_due',
      /this release declares.*\n.*index turns_due.*CREATE INDEX turns_due/,
    ],
    [
      'a session that is missing',
      'DELETE FROM sessions WHERE id = (SELECT session_id FROM turns LIMIT 1)',
      /is missing that others refer to.*\n.*sessions: /,
    ],
    ['a batch that is missing', 'DELETE FROM patch_batches', /patch batches: .*, of call /],
    [
      'bytes that nothing has referred to for long',
      'UPDATE loose_blobs SET put_at = 1, marked_at = NULL',
      /Data that nothing refers to/,
    ],
  ];

  let directory: string;
  let dataDir: string;
  let server: TestServer;
  let isRunning = true;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-check-'));
    dataDir = join(directory, 'data');
    server = await startTestServer({ config: { dataDir } });
    await usedWorkspace(server);
  });
  afterAll(async () => {
    if (isRunning) await server.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('finds nothing wrong while a server runs, changes nothing and leaves nothing behind', async () => {
    const before = await readdir(dataDir);
    const { code, said } = await admin(['check'], { PATCHBAY_DATA_DIR: dataDir });
    expect(said).toMatch(/: looked at .*\d+ turns.*; nothing is wrong\n$/);
    expect(code).toBe(0);
    expect(await readdir(dataDir)).toEqual(before);
  });

  it('looks into a backup in the same way', async () => {
    const copy = join(directory, 'copy.db');
    await admin(['backup', copy], { PATCHBAY_DATA_DIR: dataDir });
    expect(await admin(['check', copy])).toEqual({
      code: 0,
      said: expect.stringMatching(/whole; .*; nothing is wrong\n$/) as string,
    });
    const database = new Libsql(copy);
    database.exec('DELETE FROM trail WHERE seq <= 2 AND last_seq >= 2');
    database.close();
    const damaged = await admin(['check', copy]);
    expect(damaged).toMatchObject({
      code: 1,
      said: expect.stringContaining('missing from a trail') as string,
    });
  });

  it('says so where there is no data, and takes no words of others', async () => {
    expect(await admin(['check'], { PATCHBAY_DATA_DIR: join(directory, 'none') })).toMatchObject({
      code: 1,
      said: expect.stringContaining('holds no data') as string,
    });
    expect((await admin(['check', '--to', 'mongodb://x/y'])).code).toBe(2);
  });

  it('repairs nothing while a server runs, nor in a backup', async () => {
    expect(await admin(['check', '--repair'], { PATCHBAY_DATA_DIR: dataDir })).toMatchObject({
      code: 1,
      said: expect.stringContaining('is in use by another Patchbay server') as string,
    });
    expect((await admin(['check', join(directory, 'copy.db'), '--repair'])).code).toBe(2);
    expect((await admin(['backup', join(directory, 'other.db'), '--repair'])).code).toBe(2);
  });

  it.each([
    ['a workspace', 'UPDATE usage SET bytes = bytes + 100, files = 0'],
    ['a member alone', 'UPDATE member_usage SET versions = versions - 1'],
    ['a member who is not counted', 'DELETE FROM member_usage'],
    [
      'somebody who holds nothing',
      "INSERT INTO member_usage SELECT 'zoe', workspace_id, 1, 1, 1, 1 FROM usage",
    ],
    ['all', 'DELETE FROM usage; DELETE FROM member_usage'],
  ])('names usage of %s that is counted wrong, and counts it again', async (_whose, sql) => {
    if (isRunning) await server.close();
    isRunning = false;
    const own = await mkdtemp(join(directory, 'counted-'));
    await cp(dataDir, own, { recursive: true });
    const on = <T>(work: (database: Libsql.Database) => T): T => {
      const database = new Libsql(join(own, 'patchbay.db'));
      try {
        return work(database);
      } finally {
        database.close();
      }
    };
    const counts = () =>
      on((database) =>
        ['usage ORDER BY workspace_id', 'member_usage WHERE bytes + files + versions + sessions > 0'].map(
          (of) => database.prepare(`SELECT * FROM ${of}`).raw().all([]),
        ),
      );
    const before = counts();
    on((database) => database.exec(sql));
    const check = (...flags: string[]) => admin(['check', ...flags], { PATCHBAY_DATA_DIR: own });
    expect(await check()).toMatchObject({
      code: 1,
      said: expect.stringMatching(/usage count.* is wrong.*check --repair.*\n {2}workspace /) as string,
    });
    expect(await check('--repair')).toMatchObject({
      code: 0,
      said: expect.stringMatching(/A usage count was wrong \(\d+\)\./) as string,
    });
    expect(counts()).toEqual(before);
    expect((await check()).said).toMatch(/nothing is wrong\n$/);
  });

  it.each(DAMAGES)('names %s', async (_what, sql, said) => {
    if (isRunning) await server.close();
    isRunning = false;
    const damaged = await mkdtemp(join(directory, 'damaged-'));
    await cp(dataDir, damaged, { recursive: true });
    const database = new Libsql(join(damaged, 'patchbay.db'));
    database.exec('PRAGMA foreign_keys = OFF');
    database.exec(sql);
    database.close();
    expect((await ofDirectory(damaged)).findings.toString()).toMatch(said);
  });
});

describeOnMongo('patchbay-admin check of a MongoDB', () => {
  type Document = { _id: string; [field: string]: unknown };
  const DAMAGES: [what: string, collection: string, filter: object, change: object | null, said: RegExp][] = [
    [
      'an audit event that is missing',
      'audit_events',
      { seq: 3 },
      null,
      /missing from a trail.*\n.*: 3 to 3/,
    ],
    [
      'bytes that are others',
      'blobs',
      { size: { $gt: 0, $lt: 100 } },
      { bytes: Buffer.from('?') },
      /Bytes do not match their hash \(1\)/,
    ],
    ['a batch that is missing', 'patches', { record: /louder/ }, null, /patch batches: .*, of call /],
    ['bytes that are gone', 'blobs', { size: { $gt: 0, $lt: 100 } }, null, /blobs: .*, of version /],
    [
      'a turn that can not be read',
      'turn_texts',
      {},
      null,
      /Cannot be read \(1\).*\n.*turns, behind the first/,
    ],
  ];

  let dataDir: string;
  let database: ReturnType<typeof aDatabaseOn>;
  let connection: Connection;
  const found = async () => (await ofDatabase(database.uri)).findings.toString();

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'patchbay-check-'));
    database = aDatabaseOn(MONGO_SERVER!);
    const server = await startTestServer({ config: { dataDir, mongodbUri: null } });
    await usedWorkspace(server);
    await server.close();
    const file = join(dataDir, 'export.ndjson');
    await admin(['export', file], { PATCHBAY_DATA_DIR: dataDir });
    await admin(['import', file], { PATCHBAY_MONGODB_URI: database.uri });
    connection = await mongoose.createConnection(database.uri).asPromise();
  });
  afterAll(async () => {
    await connection.close();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('finds nothing wrong, and shows no password', async () => {
    const { code, said } = await admin(['check'], { PATCHBAY_MONGODB_URI: database.uri });
    expect(said).toMatch(/: looked at .*\d+ turns.*; nothing is wrong\n$/);
    expect(said).toContain(shownUri(database.uri));
    expect(code).toBe(0);
  });

  it.each(DAMAGES)('names %s', async (_what, collection, filter, change, said) => {
    const documents = connection.collection<Document>(collection);
    const before = (await documents.findOne(filter))!;
    if (change === null) await documents.deleteOne({ _id: before._id });
    else await documents.replaceOne({ _id: before._id }, { ...before, ...change });
    const text = await found();
    await documents.replaceOne({ _id: before._id }, before, { upsert: true });
    expect(text).toMatch(said);
  });

  it.each([
    ['a workspace', { $inc: { bytes: 100 }, $set: { files: 0 } }],
    ['its members', { $set: { members: [] } }],
  ])('names usage of %s that is counted wrong, and counts it again', async (_whose, change) => {
    const usage = connection.collection<Document>('usage');
    const stored = async () => {
      const found = (await usage.find().sort({ _id: 1 }).toArray()) as unknown as {
        members: { userId: string }[];
      }[];
      for (const { members } of found) members.sort((a, b) => (a.userId < b.userId ? -1 : 1));
      return found;
    };
    const before = await stored();
    await usage.updateMany({}, change as object);
    const check = (...flags: string[]) => admin(['check', ...flags], { PATCHBAY_MONGODB_URI: database.uri });
    expect(await check()).toMatchObject({
      code: 1,
      said: expect.stringMatching(/usage count.* is wrong.*check --repair.*\n {2}workspace /) as string,
    });
    expect(await check('--repair')).toMatchObject({
      code: 0,
      said: expect.stringMatching(/A usage count was wrong \(\d+\)\./) as string,
    });
    expect(await stored()).toEqual(before);
    expect(await found()).toBe('');
  });

  it('leaves alone what is counted while it looks', async () => {
    const usage = connection.collection<Document>('usage');
    const before = await usage.find().toArray();
    await usage.updateMany({}, { $inc: { files: 1 } } as object);
    const looking = ofDatabase(database.uri, true);
    // It looks a second time, a second after the first.
    const counted = setInterval(() => void usage.updateMany({}, { $inc: { versions: 1 } } as object), 100);
    const { findings } = await looking.finally(() => clearInterval(counted));
    for (const one of before) await usage.replaceOne({ _id: one._id }, one);
    expect(findings.toString()).toBe('');
  });

  it('names an index that is missing, and one that is another, which stay as they are', async () => {
    const turns = connection.collection('turns');
    const there = (await turns.listIndexes().toArray()) as { name: string; key: object; unique?: boolean }[];
    const index = there.find(({ name }) => name !== '_id_')!;
    await turns.dropIndex(index.name);
    expect(await found()).toContain(`The index ${index.name} of the collection turns is not there.`);
    await turns.createIndex({ nothing: 1 }, { name: index.name });
    expect(await found()).toMatch(/is not as this Patchbay declares it\..*dropIndex/);
    await turns.dropIndex(index.name);
    await turns.createIndex(index.key as { [field: string]: 1 }, {
      name: index.name,
      ...(index.unique === true && { unique: true }),
    });
    expect(await found()).toBe('');
  });

  it('names events that no server brings into their trail, and parts of bytes that nothing refers to', async () => {
    const turns = connection.collection<Document>('turns');
    const before = (await turns.findOne({}))!;
    const outbox = [{ eventId: '01900000-0000-7000-8000-000000000000', draft: '{}' }];
    await turns.updateOne({ _id: before._id }, { $set: { outbox, pendingIn: 'w' } });
    const parts = connection.collection<Document>('parts');
    const part = (await parts.findOne({ at: 0, _id: /blob/ }))!;
    const [room, id] = JSON.parse(part.owner as string) as string[];
    const owner = JSON.stringify([room, id, 'another generation']);
    await parts.insertOne({ ...part, _id: `${owner}0`, owner });
    const { findings } = await ofDatabase(database.uri);
    expect(findings.toString()).toMatch(/are not in their trail yet \(1\).*\n {2}workspace w, since 2024/);
    expect(findings.toString()).toMatch(/Data that nothing refers to \(1\).*\n.*another generation/);
    expect(findings.hasFaults).toBe(false);
    await turns.replaceOne({ _id: before._id }, before);
    await parts.deleteOne({ _id: `${owner}0` });
  });
});
