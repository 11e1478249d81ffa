import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type BackupContents, BackupError, Backups, type Restored } from '../ports/backups.js';
import { partialOf, publish, realFolder, sync } from '../partial-file.js';
import { copyDatabase, foldLog, inspectDatabase, removeDatabase } from './copy-database.js';
import { DATABASE_FILE, DataLock, LOCK_FILE } from './data-lock.js';
import { asReader } from './readers.js';

/** Backups of the embedded database: each is a database in one file. */
export class SqliteBackups extends Backups {
  backup(dataDir: string, file: string, force: boolean): BackupContents {
    const source = join(resolve(dataDir), DATABASE_FILE);
    if (!existsSync(source)) throw new BackupError(`${resolve(dataDir)} holds no data of a Patchbay server`);
    const target = resolve(file);
    refuseOwnName(dataDir, target);
    const folder = realFolder(target);
    if (!force && existsSync(target))
      throw new BackupError(`${target} exists already; choose another name, or --force`);
    return inPartial(target, (partial) => {
      asReader(dirname(source), () => copyDatabase(source, partial));
      const contents = inspectDatabase(partial);
      sync(partial);
      if (force) renameSync(partial, target);
      else publish(partial, target);
      sync(folder);
      return contents;
    });
  }

  restore(file: string, dataDir: string, force: boolean): Restored {
    const source = resolve(file);
    inspectDatabase(source);
    const directory = resolve(dataDir);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const target = join(directory, DATABASE_FILE);
    const lock = DataLock.acquire(directory);
    try {
      if (!force && existsSync(target))
        throw new BackupError(`${directory} contains data already; --force keeps that under another name`);
      return inPartial(target, (partial) => {
        copyDatabase(source, partial);
        const contents = inspectDatabase(partial);
        sync(partial);
        const replaced = existsSync(target) ? linkAside(target) : null;
        chownLike(directory, partial, join(directory, LOCK_FILE));
        renameSync(partial, target);
        sync(directory);
        return { ...contents, replaced };
      });
    } finally {
      lock.release();
    }
  }

  check(file: string): BackupContents {
    return inspectDatabase(resolve(file));
  }
}

/** Throws for a name in the data directory that a server, or SQLite, may use itself. */
export function refuseOwnName(dataDir: string, file: string): void {
  const target = resolve(file);
  if (!existsSync(dirname(target)) || !existsSync(dataDir)) return;
  if (realpathSync(dirname(target)) !== realpathSync(dataDir)) return;
  if (/^(patchbay\.|jwt-secret|importing$)/.test(basename(target)))
    throw new BackupError(`${target} is a name of the data directory's own; choose another`);
}

/** Works on a file beside the target, which is removed afterwards. */
function inPartial<T>(target: string, work: (partial: string) => T): T {
  const partial = partialOf(target);
  try {
    return work(partial);
  } finally {
    removeDatabase(partial);
  }
}

/** Links what is about to be replaced under a second name, after folding in its log if possible. */
function linkAside(target: string): string {
  foldLog(target);
  const aside = `${target}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  if (existsSync(`${target}-wal`)) renameSync(`${target}-wal`, `${aside}-wal`);
  rmSync(`${target}-shm`, { force: true });
  try {
    linkSync(target, aside);
  } catch {
    renameSync(target, aside);
  }
  return aside;
}

/** Gives files created by root to the owner of the directory, or the server could not open them. */
export function chownLike(directory: string, ...files: string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  for (const file of files) chownSync(file, uid, gid);
}
