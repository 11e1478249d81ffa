import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { identityOf, isSameFolder } from './same-folder.js';

/** A folder of this machine, as stored in a home. */
interface KnownRoot {
  rootId: string;
  /** Identity of the folder at that time (`identityOf`). */
  identity: string;
}

/** The path of a folder, and the file that stores its id. */
interface FolderLocation {
  file: string;
  identity: string;
}

/**
 * The rootId of a folder, stored in `home`: the same UUID for every client of this machine with that home (a terminal
 * and an editor), at every start. A folder that replaced another one gets a new id.
 *
 * ```ts
 * roots: [{ name, docPath: foldCase(name), rootId: await rootIdOf(directory, home) }],
 * ```
 *
 * @param home as in PATCHBAY_HOME, by default `.patchbay` in the user's home; created with mode 0700 if missing
 * @throws a system error if the folder does not exist or the home cannot be written
 */
export async function rootIdOf(directory: string, home: string): Promise<string> {
  const place = await locationOf(directory, home);
  const known = await read(place.file);
  if (known && isSameFolder(known.identity, place.identity)) return known.rootId;
  const mine = { rootId: randomUUID(), identity: place.identity };
  await write(place.file, mine, { mayReplace: known !== null });
  // Of two first starts at once, both take the id that was stored first.
  return (await read(place.file))?.rootId ?? mine.rootId;
}

/** Sets the rootId of a folder: the id under which the server knows the project that the folder holds. */
export async function keepRootId(directory: string, home: string, rootId: string): Promise<void> {
  const { file, identity } = await locationOf(directory, home);
  await write(file, { rootId, identity }, { mayReplace: true });
}

async function locationOf(directory: string, home: string): Promise<FolderLocation> {
  const real = await realpath(directory);
  const key = sha256(real).slice(0, 32);
  return { file: join(home, 'roots', `${key}.json`), identity: identityOf({ directory: real }) };
}

/** Null if nothing is stored, or if a power failure damaged it. */
async function read(file: string): Promise<KnownRoot | null> {
  try {
    const { rootId, identity } = JSON.parse(await readFile(file, 'utf8')) as Partial<KnownRoot>;
    return typeof rootId === 'string' && typeof identity === 'string' ? { rootId, identity } : null;
  } catch {
    return null;
  }
}

/** Without `mayReplace`, the id that another process stored meanwhile stays. */
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

/** True if this process or another one has created the file; a link fails if the file exists. */
async function isThere(next: string, file: string): Promise<boolean> {
  try {
    await link(next, file);
    return true;
  } catch {
    return (await read(file)) !== null;
  }
}
