/** A server that somebody runs, a program to start, a program to download and start, or nothing. */
export type MongoChoice =
  | { kind: 'named'; uri: string }
  | { kind: 'started'; binary: string }
  | { kind: 'downloaded' }
  | { kind: 'none' };

/**
 * The server that the backend on MongoDB is tested on, by this environment: one that somebody runs; else one that the run
 * starts for itself, from MONGOMS_SYSTEM_BINARY, from PATH, or where PATCHBAY_TEST_MONGODB_DOWNLOAD=1 asks for it, from a
 * download of some 100 MB that is kept. Without any of them there is none.
 */
export function mongoChoice(env: { [name: string]: string | undefined }): MongoChoice;

/** How to have one. */
export const HOW_TO_HAVE_MONGO: string;
