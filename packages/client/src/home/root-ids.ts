import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { identityOf, isSameFolder } from './same-folder.js';

/** A folder of this machine, as a home knows it. */
interface KnownRoot {
  rootId: string;
  /** Which folder it was then (`identityOf`). */
  identity: string;
}

/** Where a folder is, and where the home notes it. */
interface Place {
  file: string;
  identity: string;
}

/**
 * The rootId of a folder, kept in `home`: the same UUID for every client of this machine with that home, a terminal and an
 * editor, at every start. A folder that has taken the place of another one gets another id.
 *
 * ```ts
 * roots: [{ name, docPath: foldCase(name), rootId: await rootIdOf(directory, home) }],
 * ```
 *
 * @param home as in PATCHBAY_HOME, by default `.patchbay` in the user's home; made 0700 where it is not there
 * @throws a system error where there is no such folder, or the home cannot be written
 */
export async function rootIdOf(directory: string, home: string): Promise<string> {
  const place = await placeOf(directory, home);
  const known = await read(place.file);
  if (known && isSameFolder(known.identity, place.identity)) return known.rootId;
  const mine = { rootId: randomUUID(), identity: place.identity };
  await write(place.file, mine, { mayReplace: known !== null });
  // Of two first starts at once both take the id of one.
  return (await read(place.file))?.rootId ?? mine.rootId;
}

/** Gives a folder another rootId from now on: that under which the server knows the project that it is found to be. */
export async function keepRootId(directory: string, home: string, rootId: string): Promise<void> {
  const { file, identity } = await placeOf(directory, home);
  await write(file, { rootId, identity }, { mayReplace: true });
}

async function placeOf(directory: string, home: string): Promise<Place> {
  const real = await realpath(directory);
  const key = sha256(real).slice(0, 32);
  return { file: join(home, 'roots', `${key}.json`), identity: identityOf({ directory: real }) };
}

/** Null where nothing is noted, or what a power failure has spoilt. */
async function read(file: string): Promise<KnownRoot | null> {
  try {
    const { rootId, identity } = JSON.parse(await readFile(file, 'utf8')) as Partial<KnownRoot>;
    return typeof rootId === 'string' && typeof identity === 'string' ? { rootId, identity } : null;
  } catch {
    return null;
  }
}

/** Without `mayReplace` what another process has noted meanwhile stays. */
async function write(file: string, root: KnownRoot, { mayReplace }: { mayReplace: boolean }): Promise<void> {
  const next = `${file}.${randomUUID()}`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(next, JSON.stringify(root), { mode: 0o600, flag: 'wx' });
  try {
    if (!mayReplace && (await isThere(next, file))) return;
    await rename(next, file);
  } finally {
    await rm(next, { force: true });
  }
}

/** True where the file is there now, by this process or another: a link fails where there is one. */
async function isThere(next: string, file: string): Promise<boolean> {
  try {
    await link(next, file);
    return true;
  } catch {
    return (await read(file)) !== null;
  }
}
