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
});
