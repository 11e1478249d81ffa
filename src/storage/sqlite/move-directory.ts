import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MoveError } from '../move/records.js';
import { giveTo, sync } from './backups.js';
import { DATABASE_FILE, DataLock, LOCK_FILE } from './data-lock.js';
import { SqliteDatabase } from './database.js';
import { SqliteMoveSource } from './move-source.js';
import { SqliteMoveTarget } from './move-target.js';

/** What is not all there yet lies in this folder of the data directory; no server looks there. */
const MOVING = 'moving';
const SOURCE_FILE = 'source';

/** Lets a data directory be read that no server is on, and is told what names it. It is brought to this version first. */
export async function fromDirectory(
  dataDir: string,
  work: (source: SqliteMoveSource, name: string) => Promise<void>,
): Promise<void> {
  const directory = resolve(dataDir);
  if (!existsSync(join(directory, DATABASE_FILE)))
    throw new MoveError(`${directory} holds no data of a Patchbay server`);
  const database = SqliteDatabase.open(directory);
  try {
    const first = database.get<[string]>('SELECT id FROM first_user');
    await work(new SqliteMoveSource(database), first?.[0] ?? '');
  } finally {
    database.close();
  }
}

/**
 * Lets a data directory be filled that has no data, or in which a move from this source was broken off. What is moved is
 * the directory's data once the work is done.
 * @param from names the source.
 */
export async function intoDirectory(
  dataDir: string,
  from: string,
  work: (target: SqliteMoveTarget) => Promise<void>,
): Promise<void> {
  const directory = resolve(dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = DataLock.take(directory);
  try {
    if (existsSync(join(directory, DATABASE_FILE)))
      throw new MoveError(`${directory} holds data already: name a directory without`);
    const moving = join(directory, MOVING);
    begin(moving, from);
    const database = SqliteDatabase.open(moving);
    try {
      await work(new SqliteMoveTarget(database));
    } finally {
      database.close();
    }
    const moved = join(moving, DATABASE_FILE);
    giveTo(directory, moved, join(directory, LOCK_FILE));
    sync(moved);
    renameSync(moved, join(directory, DATABASE_FILE));
    sync(directory);
    rmSync(moving, { recursive: true });
  } finally {
    lock.release();
  }
}

function begin(moving: string, from: string): void {
  const source = join(moving, SOURCE_FILE);
  mkdirSync(moving, { recursive: true, mode: 0o700 });
  if (!existsSync(source)) writeFileSync(source, from);
  else if (readFileSync(source, 'utf8') !== from)
    throw new MoveError(`${moving} holds a part of other data: remove it, or name another directory`);
}
