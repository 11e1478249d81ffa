import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { copyDatabase, inspectDatabase } from './copy-database.js';
import { DATABASE_FILE } from './data-lock.js';
import { SqliteDatabase } from './database.js';
import { SCHEMA_VERSION } from './schema.js';

const DO =
  'Export the data with the release that wrote it and import it here (patchbay-admin export, import), or start with a new data directory';

describe('the schema of a data directory', () => {
  let directory: string;
  let file: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-schema-'));
    file = join(directory, DATABASE_FILE);
  });
  afterEach(() => rm(directory, { recursive: true }));

  const open = (): void => SqliteDatabase.open(directory).close();
  const pragma = (name: string, of = file): unknown => {
    const database = new Libsql(of);
    try {
      return (database.prepare(`PRAGMA ${name}`).raw().get([]) as [unknown])[0];
    } finally {
      database.close();
    }
  };
  const change = (sql: string): void => {
    const database = new Libsql(file);
    database.exec(sql);
    database.close();
  };

  it('is created once, with its version and incremental vacuum, which a backup keeps', () => {
    open();
    open();
    const copy = join(directory, 'copy.db');
    copyDatabase(file, copy);
    for (const one of [file, copy]) {
      expect(pragma('user_version', one)).toBe(SCHEMA_VERSION);
      // 2: INCREMENTAL
      expect(pragma('auto_vacuum', one)).toBe(2);
    }
    expect(inspectDatabase(copy).schemaVersion).toBe(SCHEMA_VERSION);
  });

  it('is created if an earlier start was interrupted before', async () => {
    await writeFile(file, '');
    open();
    expect(pragma('user_version')).toBe(SCHEMA_VERSION);
  });

  it.each([
    ['an older version', `PRAGMA user_version=${SCHEMA_VERSION - 1}`, SCHEMA_VERSION - 1],
    ['a newer version', `PRAGMA user_version=${SCHEMA_VERSION + 1}`, SCHEMA_VERSION + 1],
  ])('of %s is refused and left unchanged', async (_what, sql, found) => {
    open();
    change(sql);
    const before = await readFile(file);
    for (const _attempt of [1, 2]) {
      expect(open).toThrow(
        `The data directory ${directory} has schema version ${found}, and this Patchbay opens version ${SCHEMA_VERSION} only. ${DO}`,
      );
      expect(() => inspectDatabase(file)).toThrow(`${file} has schema version ${found}`);
    }
    expect(await readFile(file)).toEqual(before);
  });

  it.each([
    ['another program’s, with the same version', `CREATE TABLE a (x); PRAGMA user_version=${SCHEMA_VERSION}`],
    ['older than schema versions', 'CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY)'],
  ])('that is %s is refused and left unchanged', async (_what, sql) => {
    change(sql);
    const before = await readFile(file);
    expect(open).toThrow(`The data directory ${directory} has no schema version of Patchbay`);
    expect(open).toThrow(DO);
    expect(() => inspectDatabase(file)).toThrow(`${file} has no schema version of Patchbay`);
    expect(await readFile(file)).toEqual(before);
  });

  it('is refused if the file is not a database, and the directory is unlocked again', async () => {
    await writeFile(file, 'no database, but a text that is long enough to be looked at\n'.repeat(100));
    for (const _attempt of [1, 2])
      expect(open).toThrow(`The data directory ${directory} has no schema version of Patchbay`);
  });
});
