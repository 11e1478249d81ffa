import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { DATABASE_FILE, SqliteDatabase } from './database.js';
import { DatabaseTooNewError } from './errors.js';
import { SqliteBlobStore } from './blobs.store.js';
import { SqliteFileStore } from './files.store.js';
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

  it('leave the last good version where one fails', () => {
    expect(() => migrate(connection, file, [FIRST, BROKEN])).toThrow('nowhere');
    expect(applied()).toEqual([[1, 'first']]);
    expect(rows("SELECT name FROM sqlite_schema WHERE name = 'b'")).toEqual([]);
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
