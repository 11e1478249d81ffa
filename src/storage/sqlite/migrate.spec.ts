import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { DATABASE_FILE } from './data-lock.js';
import { SqliteDatabase } from './database.js';
import { DatabaseTooNewError } from './errors.js';
import { SqliteBlobStore } from './blobs.store.js';
import { SqliteFileStore } from './files.store.js';
import { aCall, aTurn } from '../../turns/turn.sample.js';
import { SqliteTurnStore } from './turns.store.js';
import { migrate, type Migration, MIGRATIONS } from './migrate.js';
import { WorkspaceKeys } from './workspace-keys.js';

const FIRST: Migration = { name: 'first', sql: 'CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)' };
const SECOND: Migration = { name: 'second', sql: 'ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = 2' };
const BROKEN: Migration = {
  name: 'broken',
  sql: 'CREATE TABLE b (x INTEGER); INSERT INTO nowhere VALUES (1)',
};

describe('migrations', () => {
  let directory: string;
  let file: string;
  let connection: Libsql.Database;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-migrate-'));
    file = join(directory, DATABASE_FILE);
    connection = new Libsql(file);
  });
  afterEach(async () => {
    connection.close();
    await rm(directory, { recursive: true });
  });

  const rows = (sql: string): unknown[] => connection.prepare(sql).raw().all([]);
  const applied = (): unknown[] => rows('SELECT version, name FROM schema_migrations ORDER BY version');

  it('run in order, once each, and keep what is there', () => {
    migrate(connection, file, [FIRST]);
    migrate(connection, file, [FIRST]);
    migrate(connection, file, [FIRST, SECOND]);
    expect(applied()).toEqual([
      [1, 'first'],
      [2, 'second'],
    ]);
    expect(rows('SELECT x, y FROM a')).toEqual([[1, 2]]);
  });

  it('leave a database as it was where one fails, with what went well before', () => {
    expect(() => migrate(connection, file, [FIRST, BROKEN])).toThrow('nowhere');
    expect(rows('SELECT name FROM sqlite_schema')).toEqual([]);
    migrate(connection, file, [FIRST]);
    expect(() => migrate(connection, file, [FIRST, SECOND, BROKEN])).toThrow('nowhere');
    expect(applied()).toEqual([[1, 'first']]);
    expect(rows('SELECT * FROM a')).toEqual([[1]]);
    migrate(connection, file, [FIRST, SECOND]);
    expect(rows('SELECT x, y FROM a')).toEqual([[1, 2]]);
  });

  it('refuse a database from a newer version, and leave it as it is', () => {
    migrate(connection, file, [FIRST, SECOND]);
    expect(() => migrate(connection, file, [FIRST])).toThrow(DatabaseTooNewError);
    expect(() => migrate(connection, file, [FIRST])).toThrow(file);
    expect(rows('SELECT x, y FROM a')).toEqual([[1, 2]]);
  });

  it('stop a server that would open a newer database', () => {
    migrate(connection, file, [...MIGRATIONS, { name: 'future', sql: 'SELECT 1' }]);
    connection.close();
    expect(() => SqliteDatabase.open(directory)).toThrow(DatabaseTooNewError);
  });

  it('count what each workspace and each user has from before there were shares, and say who made a workspace', () => {
    const before = MIGRATIONS.findIndex(({ name }) => name === 'shares');
    migrate(connection, file, MIGRATIONS.slice(0, before));
    const version = "zeroblob(0), 0, 'text', 'ada', 'tool', 0, 1";
    connection.exec(`
      INSERT INTO workspaces (id, workspace_id, name, created_at, version)
        VALUES (1, 'w', 'W', 5, 1), (2, 'v', 'V', 6, 1);
      INSERT INTO members (workspace, user_id, role, added_at, position)
        VALUES (1, 'ada', 'owner', 5, 0), (1, 'ben', 'owner', 9, 1), (2, 'ben', 'owner', 9, 0);
      INSERT INTO files (id, workspace, file_id, folder, path, doc_path, revision, head, last_number, created_at,
        updated_at, deleted_at) VALUES (1, 1, 'f1', 0, '/a', 'a', 1, 2, 2, 1, 1, NULL),
          (2, 1, 'f2', 0, '/b', 'b', 1, 1, 1, 1, 1, 7), (3, 1, 'd', 1, '/d', 'd', 1, 0, 0, 1, 1, NULL);
      INSERT INTO file_versions (file, number, version_id, sha256, size_bytes, shape, author, source, conflict, created_at)
        VALUES (1, 1, 'v1', ${version}), (1, 2, 'v2', x'01', 3, 'text', 'ben', 'tool', 0, 2), (2, 1, 'v3', ${version});
      INSERT INTO blobs (id, workspace, sha256, bytes)
        VALUES (1, 1, zeroblob(0), x'0102'), (2, 1, x'01', x'030405'), (3, 1, x'02', x'06');
      INSERT INTO sessions (workspace, session_id, conversation_id, user_id, created_at, tools)
        VALUES (1, 's1', 'c', 'ada', 1, '["ls"]'), (1, 's2', 'c', 'ada', 1, NULL);
      INSERT INTO active_files (workspace, session_id, files) VALUES (1, 's2', '["ä"]');
    `);
    migrate(connection, file);
    expect(rows('SELECT scope, bytes, files, versions, sessions FROM usage ORDER BY scope')).toEqual([
      ['w', 2 + 3 + 1 + 6 + 6, 2, 4, 2],
    ]);
    const ofMembers = 'SELECT user_id, workspace_id, bytes, files, versions, sessions FROM member_usage';
    expect(rows(`${ofMembers} ORDER BY user_id`)).toEqual([
      ['ada', 'w', 2 + 6 + 6, 1, 2, 2],
      ['ben', 'w', 3, 0, 1, 0],
    ]);
    expect(rows('SELECT workspace_id, created_by FROM workspaces ORDER BY id')).toEqual([
      ['w', 'ada'],
      ['v', null],
    ]);
  });

  it('keep the turns of an earlier release: their keys, their clients, their running calls', () => {
    migrate(connection, file, MIGRATIONS.slice(0, 3));
    const state = JSON.stringify({ conversationId: 'v', boundClientId: null, clocks: {}, calls: [] });
    connection.exec(`
      INSERT INTO workspaces (id, workspace_id, name, created_at, version) VALUES (1, 'w', 'W', 1, 1);
      INSERT INTO turns (workspace, session_id, turn_id, user_id, version, status, accepted_at, due_at,
        idempotency_key, request_hash, state)
        VALUES (1, 's', 't1', 'u', 2, 'open', 10, 20, 'key', 'hash', '${state}'),
          (1, 's', 't2', 'u', 1, 'open', 11, NULL, NULL, 'hash', '${state}');
      INSERT INTO audit_events (workspace, seq, event_id, name, at, session_id, turn_id, client_id, fields)
        VALUES (1, 1, 'e1', 'Tool.CreateFile.Forwarded', 12, 's', 't1', 'laptop', '{}'),
          (1, 2, 'e2', 'Tool.CreateFile.Forwarded', 13, 's', 't1', 'desktop', '{}'),
          (1, 3, 'e3', 'Tool.CreateFile.Released', 14, 's', 't1', NULL, '{}')`);
    migrate(connection, file);
    expect(rows('SELECT * FROM idempotency_keys')).toEqual([[1, 'u', 'key', 's', 't1', 10]]);
    expect(rows('SELECT turn_id, last_client_id, due_at FROM turns ORDER BY turn_id')).toEqual([
      ['t1', 'desktop', 20],
      ['t2', null, null],
    ]);
    expect(rows("SELECT json_extract(state, '$.lease'), json_type(state, '$.lease') FROM turns")).toEqual([
      [null, 'null'],
      [null, 'null'],
    ]);
  });

  it('give each call of a turn a row of its own, and what its error says beside the message one with its result', async () => {
    migrate(connection, file, MIGRATIONS.slice(0, 10));
    const details = { faults: ['a\0b', '\ud800 "quoted"'] };
    const calls = ['first', 'second', 'third'].map((callId) => aCall({ callId }));
    const stored = [
      { ...calls[0]!, status: 'failed', error: { code: 'X', message: 'No.', details } },
      { ...calls[1]!, status: 'executing' },
      { ...calls[2]!, status: 'failed', error: { code: 'STALE', message: 'Old.', details } },
    ];
    const { conversationId, clocks } = aTurn('w');
    const state = JSON.stringify({
      conversationId,
      boundClientId: null,
      clocks,
      lease: null,
      folder: null,
      calls: stored,
    });
    connection.exec(
      "INSERT INTO workspaces (id, workspace_id, name, created_at, version) VALUES (1, 'w', 'W', 1, 1)",
    );
    connection
      .prepare(
        `INSERT INTO turns (id, workspace, session_id, turn_id, user_id, version, status, accepted_at, due_at, request_hash, state)
         VALUES (5, 1, 's', 't', 'u', 2, 'open', 10, 20, 'hash', ?)`,
      )
      .run([state]);
    connection.exec(
      `INSERT INTO turn_results (id, call_id, result) VALUES (${5 * 65_536 + 2}, 'third', '{"success":false}')`,
    );
    migrate(connection, file);
    connection.close();
    const database = SqliteDatabase.open(directory);
    const turns = new SqliteTurnStore(database, new WorkspaceKeys(database));
    const ref = { workspaceId: 'w', sessionId: 's', turnId: 't' };
    expect((await turns.find(ref))?.calls).toEqual([
      { ...stored[0], error: { code: 'X', message: 'No.' } },
      stored[1],
      { ...stored[2], error: { code: 'STALE', message: 'Old.' } },
    ]);
    expect(await turns.resultsOf(ref, 10_000)).toEqual(
      new Map([
        ['first', { result: null, details }],
        ['third', { result: { success: false }, details }],
      ]),
    );
    expect(await turns.openOfWorkspace('w')).toEqual({ turns: 1, calls: 3 });
    // What ran without a lease is nobody's, and the clock ends it.
    expect(await turns.dueBefore(1, 9)).toEqual([ref]);
    expect(await turns.find(ref)).toMatchObject({ lease: { until: 0 }, resultRoom: 16 * 1024 * 1024 });
    database.close();
    connection = new Libsql(file);
  });

  it('keep what a person has edited of a call that is yet to run, beside the call', async () => {
    migrate(connection, file, MIGRATIONS.slice(0, 19));
    const approved = { digest: 'd', summary: {}, editedArguments: { path: 'a\0b \ud800' } };
    const calls = [aCall({ callId: 'posted' }), { ...aCall({ callId: 'edited' }), approved }];
    connection.exec(
      `INSERT INTO workspaces (id, workspace_id, name, created_at, version) VALUES (1, 'w', 'W', 1, 1);
       INSERT INTO turns (id, workspace, session_id, turn_id, user_id, version, status, accepted_at, request_hash, state)
         VALUES (5, 1, 's', 't', 'u', 2, 'open', 10, 'hash', '{}')`,
    );
    const insert = connection.prepare('INSERT INTO turn_calls (id, call_id, state) VALUES (?, ?, ?)');
    for (const [at, call] of calls.entries())
      insert.run([5 * 65_536 + at, call.callId, JSON.stringify(call)]);
    migrate(connection, file);
    connection.close();
    const database = SqliteDatabase.open(directory);
    const turns = new SqliteTurnStore(database, new WorkspaceKeys(database));
    const ref = { workspaceId: 'w', sessionId: 's', turnId: 't' };
    expect((await turns.find(ref))?.calls).toEqual([
      calls[0],
      { ...calls[1], approved: { digest: 'd', summary: {}, editedAt: 10 } },
    ]);
    expect(await turns.editedArgumentsOf(ref, 'edited')).toEqual(approved.editedArguments);
    expect(await turns.resultsOf(ref, 10_000)).toEqual(new Map());
    database.close();
    connection = new Libsql(file);
  });

  it('keep the files and folders of a database in which each lay in the row of its folder', async () => {
    migrate(connection, file, MIGRATIONS.slice(0, 3));
    connection.exec(FILES_OF_VERSION_3);
    connection.close();
    const database = SqliteDatabase.open(directory);
    const keys = new WorkspaceKeys(database);
    const [files, blobs] = [new SqliteFileStore(database, keys), new SqliteBlobStore(database, keys)];
    const paths = (entries: { path: string }[]) => entries.map(({ path }) => path);
    expect(paths(await files.childrenOf('w', '', null, 9))).toEqual(['/Docs', '/top.md']);
    expect(paths(await files.childrenOf('w', 'docs', null, 9))).toEqual(['/Docs/Sub', '/Docs/a.md']);
    expect(paths(await files.below('w', '', null, 9))).toEqual([
      ...['/Docs', '/Docs/a.md', '/Docs/Sub', '/Docs/Sub/ä.md', '/top.md'],
    ]);
    const inSub = await files.at('w', 'docs/sub/ä.md');
    expect(inSub).toMatchObject({ id: 'deep', revision: 1, head: { id: 'v3', sha256: 'ab'.repeat(32) } });
    expect(await files.lastDeletedAt('w', 'old/gone.md')).toMatchObject({ id: 'gone', path: '/old/gone.md' });
    const folder = await files.at('w', 'docs/sub');
    expect(folder).toMatchObject({ kind: 'folder', id: 'sub', createdAt: 2 });
    await blobs.mark(100, 9, 200);
    await blobs.removeMarked(300, 9);
    expect(await blobs.read('w', 'cd'.repeat(32))).toBeNull();
    expect(await blobs.read('w', 'ab'.repeat(32))).toEqual(Buffer.from('text'));
    database.close();
    connection = new Libsql(file);
  });
});

const version = (file: number, id: string) =>
  `(${file}, 1, '${id}', x'${'ab'.repeat(32)}', 4, 'text', 'me', 'tool', 0, 1)`;

/** Rows as they were written then: a file's parent is the key of its folder's row. */
const FILES_OF_VERSION_3 = `
INSERT INTO workspaces (id, workspace_id, name, created_at, version) VALUES (7, 'w', 'Workshop', 1, 1);
INSERT INTO files (id, workspace, parent, file_id, folder, path, doc_path, revision, head, last_number, created_at,
  updated_at, deleted_at) VALUES
  (1, 7, 0, 'docs', 1, '/Docs', 'docs', 1, 0, 0, 2, 2, NULL),
  (2, 7, 1, 'sub', 1, '/Docs/Sub', 'docs/sub', 1, 0, 0, 2, 2, NULL),
  (3, 7, 1, 'a', 0, '/Docs/a.md', 'docs/a.md', 1, 1, 1, 2, 2, NULL),
  (4, 7, 2, 'deep', 0, '/Docs/Sub/ä.md', 'docs/sub/ä.md', 1, 1, 1, 2, 2, NULL),
  (5, 7, 0, 'top', 0, '/top.md', 'top.md', 1, 1, 1, 2, 2, NULL),
  (6, 7, 0, 'old', 1, '/old', 'old', 1, 0, 0, 2, 2, 3),
  (7, 7, 6, 'gone', 0, '/old/gone.md', 'old/gone.md', 1, 1, 1, 2, 2, 3);
INSERT INTO file_versions (file, number, version_id, sha256, size_bytes, shape, author, source, conflict, created_at)
  VALUES ${[3, 4, 5, 7].map((file, at) => version(file, `v${at + 2}`)).join(', ')};
INSERT INTO blobs (id, workspace, sha256, bytes) VALUES
  (1, 7, x'${'ab'.repeat(32)}', x'74657874'), (2, 7, x'${'cd'.repeat(32)}', x'00');
INSERT INTO loose_blobs (blob, put_at) VALUES (2, 50);
`;
