import type Libsql from 'libsql';
import { DatabaseTooNewError } from './errors.js';
import { RELAY_SCHEMA } from './migrations/0001-relay.js';
import { FILES_SCHEMA } from './migrations/0002-files.js';
import { PATCHES_SCHEMA } from './migrations/0003-patches.js';
import { TURNS_SCHEMA } from './migrations/0004-turns.js';
import { FOLDERS_SCHEMA } from './migrations/0005-folders.js';
import { CONTRACTS_SCHEMA } from './migrations/0006-contracts.js';
import { EVENTS_SCHEMA } from './migrations/0007-events.js';
import { ROOTS_SCHEMA } from './migrations/0008-roots.js';
import { CHOICES_SCHEMA } from './migrations/0009-choices.js';
import { NEWEST_SCHEMA } from './migrations/0010-newest.js';
import { TURN_CALLS_SCHEMA } from './migrations/0011-turn-calls.js';
import { SHARES_SCHEMA } from './migrations/0012-shares.js';
import { ROTATIONS_SCHEMA } from './migrations/0013-rotations.js';
import { BATCHES_SCHEMA } from './migrations/0014-batches.js';
import { MEMBER_USAGE_SCHEMA } from './migrations/0017-member-usage.js';
import { FEWER_TURN_INDEXES_SCHEMA } from './migrations/0018-fewer-turn-indexes.js';
import { TURN_BYTES_SCHEMA } from './migrations/0019-turn-bytes.js';
import { LARGE_TEXTS_SCHEMA } from './migrations/0020-large-texts.js';
import { SMALL_ARGUMENTS_SCHEMA } from './migrations/0021-small-arguments.js';
import { EDITED_ARGUMENTS_SCHEMA } from './migrations/0022-edited-arguments.js';
import { CALLS_ALONE_SCHEMA } from './migrations/0023-calls-alone.js';
import { SMALL_RESULTS_SCHEMA } from './migrations/0024-small-results.js';
import { USAGE_OF_LEAVERS_SCHEMA } from './migrations/0025-usage-of-leavers.js';
import { EXECUTABLE_SCHEMA } from './migrations/0026-executable.js';

export interface Migration {
  /** What it brings, for whoever reads the table. */
  name: string;
  sql: string;
}

/** In order, and only ever appended to: the index plus one is the version. */
export const MIGRATIONS: readonly Migration[] = [
  { name: 'relay', sql: RELAY_SCHEMA },
  { name: 'files', sql: FILES_SCHEMA },
  { name: 'patches', sql: PATCHES_SCHEMA },
  { name: 'turns', sql: TURNS_SCHEMA },
  { name: 'folders', sql: FOLDERS_SCHEMA },
  { name: 'contracts', sql: CONTRACTS_SCHEMA },
  { name: 'events', sql: EVENTS_SCHEMA },
  { name: 'roots', sql: ROOTS_SCHEMA },
  { name: 'choices', sql: CHOICES_SCHEMA },
  { name: 'newest', sql: NEWEST_SCHEMA },
  { name: 'turn-calls', sql: TURN_CALLS_SCHEMA },
  { name: 'shares', sql: SHARES_SCHEMA },
  { name: 'rotations', sql: ROTATIONS_SCHEMA },
  { name: 'batches', sql: BATCHES_SCHEMA },
  { name: 'member-usage', sql: MEMBER_USAGE_SCHEMA },
  { name: 'fewer-turn-indexes', sql: FEWER_TURN_INDEXES_SCHEMA },
  { name: 'turn-bytes', sql: TURN_BYTES_SCHEMA },
  { name: 'large-texts', sql: LARGE_TEXTS_SCHEMA },
  { name: 'small-arguments', sql: SMALL_ARGUMENTS_SCHEMA },
  { name: 'edited-arguments', sql: EDITED_ARGUMENTS_SCHEMA },
  { name: 'calls-alone', sql: CALLS_ALONE_SCHEMA },
  { name: 'small-results', sql: SMALL_RESULTS_SCHEMA },
  { name: 'usage-of-leavers', sql: USAGE_OF_LEAVERS_SCHEMA },
  { name: 'executable', sql: EXECUTABLE_SCHEMA },
];

/**
 * Brings the database to the newest version, in one transaction: where a step fails it stays what it was, and the server
 * that it came from goes on with it. Refuses one that is newer than that.
 */
export function migrate(
  connection: Libsql.Database,
  file: string,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const found = versionOf(connection);
    if (found > migrations.length) throw new DatabaseTooNewError(file, found, migrations.length);
    for (const [index, migration] of migrations.entries()) {
      if (index >= found) apply(connection, index + 1, migration);
    }
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function versionOf(connection: Libsql.Database): number {
  connection.exec(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
      version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
    ) STRICT`,
  );
  const newest = connection.prepare('SELECT max(version) FROM schema_migrations').raw();
  return (newest.get([]) as [number | null])[0] ?? 0;
}

function apply(connection: Libsql.Database, version: number, { name, sql }: Migration): void {
  connection.exec(sql);
  connection
    .prepare('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)')
    .run([version, name, Date.now()]);
}
