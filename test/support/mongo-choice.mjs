import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/**
 * The server that the backend on MongoDB is tested on, by this environment: one that somebody runs; else one that the run
 * starts for itself, from MONGOMS_SYSTEM_BINARY, from PATH, or where PATCHBAY_TEST_MONGODB_DOWNLOAD=1 asks for it, from a
 * download of some 100 MB that is kept. Without any of them there is none.
 */
export function mongoChoice(env) {
  if (env.PATCHBAY_TEST_MONGODB_URI) return { kind: 'named', uri: env.PATCHBAY_TEST_MONGODB_URI };
  if (env.MONGOMS_SYSTEM_BINARY) return { kind: 'started', binary: resolve(env.MONGOMS_SYSTEM_BINARY) };
  const onPath = (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'mongod'))
    .find(isProgram);
  if (onPath !== undefined) return { kind: 'started', binary: resolve(onPath) };
  return env.PATCHBAY_TEST_MONGODB_DOWNLOAD === '1' ? { kind: 'downloaded' } : { kind: 'none' };
}

/** How to have one. */
export const HOW_TO_HAVE_MONGO =
  'name a server in PATCHBAY_TEST_MONGODB_URI, have mongod on PATH or in MONGOMS_SYSTEM_BINARY, or let it be downloaded with PATCHBAY_TEST_MONGODB_DOWNLOAD=1';

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
