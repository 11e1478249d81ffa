import type { Backups } from './ports/backups.js';
import { SqliteBackups } from './sqlite/backups.js';

/** The backups of the embedded backend, for commands that need no other part of the server. */
export const backups: Backups = new SqliteBackups();
