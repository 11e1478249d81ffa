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
];

/** Brings the database to the newest version, one transaction a step; refuses one that is newer than that. */
export function migrate(
  connection: Libsql.Database,
  file: string,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  connection.exec(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
      version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
    ) STRICT`,
  );
  const row = connection.prepare('SELECT max(version) FROM schema_migrations').raw().get([]) as [
    number | null,
  ];
  const found = row[0] ?? 0;
  if (found > migrations.length) throw new DatabaseTooNewError(file, found, migrations.length);
  for (const [index, migration] of migrations.entries()) {
    if (index >= found) apply(connection, index + 1, migration);
  }
}

function apply(connection: Libsql.Database, version: number, migration: Migration): void {
  connection.exec('BEGIN IMMEDIATE');
  try {
    connection.exec(migration.sql);
    connection
      .prepare('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)')
      .run([version, migration.name, Date.now()]);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}
