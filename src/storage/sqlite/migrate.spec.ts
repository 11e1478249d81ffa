import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { DATABASE_FILE, SqliteDatabase } from './database.js';
import { DatabaseTooNewError } from './errors.js';
import { migrate, type Migration, MIGRATIONS } from './migrate.js';

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
});
