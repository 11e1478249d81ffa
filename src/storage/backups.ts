import type { Backups } from './ports/backups.js';
import { SqliteBackups } from './sqlite/backups.js';

/** Of the backend that storage.module.ts chooses, for a command that needs nothing else of the server. */
export const backups: Backups = new SqliteBackups();
