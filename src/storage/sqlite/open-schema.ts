import type Libsql from 'libsql';
import { DataVersionError } from '../data-version.js';
import { sqliteCode } from './errors.js';
import { SCHEMA, SCHEMA_VERSION } from './schema.js';

/** `PBAY`: identifies the file as Patchbay's, so that the version number is not another program's. */
const APPLICATION_ID = 0x50_42_41_59;

/**
 * Creates the tables of an empty database, and accepts one of this version. Throws for any other, which stays
 * unchanged. Numbered migrations will run between these checks from the first release on.
 * @param place what the error names: the data directory, or a backup
 */
export function openSchema(connection: Libsql.Database, place: string): void {
  if (!isEmpty(connection, place)) checkSchema(connection, place);
  else create(connection);
}

/** Throws unless the database has this version's schema. Returns the version. */
export function checkSchema(connection: Libsql.Database, place: string): number {
  if (isEmpty(connection, place) || pragma(connection, 'application_id') !== APPLICATION_ID)
    throw refusal(place, null);
  const found = pragma(connection, 'user_version');
  if (found !== SCHEMA_VERSION) throw refusal(place, found);
  return found;
}

function create(connection: Libsql.Database): void {
  // Takes effect only before the first page is written, which the switch to WAL does.
  connection.exec('PRAGMA auto_vacuum=INCREMENTAL');
  connection.exec('BEGIN IMMEDIATE');
  try {
    connection.exec(SCHEMA);
    connection.exec(`PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${SCHEMA_VERSION}`);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function isEmpty(connection: Libsql.Database, place: string): boolean {
  try {
    return connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get([]) === undefined;
  } catch (error) {
    if (sqliteCode(error) === 'SQLITE_NOTADB') throw refusal(place, null);
    throw error;
  }
}

function pragma(connection: Libsql.Database, name: string): number {
  return (connection.prepare(`PRAGMA ${name}`).raw().get([]) as [number])[0];
}

function refusal(place: string, found: number | null): DataVersionError {
  return new DataVersionError(place, found, SCHEMA_VERSION, 'a new data directory (PATCHBAY_DATA_DIR)');
}
