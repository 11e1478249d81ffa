import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Settings } from '../../src/config/config.js';
import { describeWhere } from './describe-where.js';
import { MONGO_SERVER } from './mongo-server.js';

/** PATCHBAY_TEST_BACKEND=mongo: every server of a test has its store on the server that PATCHBAY_TEST_MONGODB_URI names. */
export const ON_MONGO = process.env.PATCHBAY_TEST_BACKEND === 'mongo';

if (ON_MONGO && MONGO_SERVER === undefined) {
  throw new Error('PATCHBAY_TEST_BACKEND=mongo, but PATCHBAY_TEST_MONGODB_URI names no server.');
}

/** Every server is told one: several may share a store. */
const JWT_SECRET = 'a secret of the tests, long enough for whoever checks its length';

/**
 * The settings of a server over this data directory, on the backend under test. On MongoDB the directory stands for a
 * database: whoever starts over it again finds what was there. drop-databases.mjs drops them after the run.
 */
export function backendSettings(dataDir: string): Partial<Settings> {
  return ON_MONGO ? { mongodbUri: watched(databaseOf(dataDir)), jwtSecret: JWT_SECRET } : {};
}

/** The same as the environment of a process. */
export function backendEnv(dataDir: string): Record<string, string> {
  return ON_MONGO ? { PATCHBAY_MONGODB_URI: databaseOf(dataDir), PATCHBAY_JWT_SECRET: JWT_SECRET } : {};
}

/** Tests of what the embedded store alone has, such as its files. */
export const describeEmbedded = describeWhere(!ON_MONGO);

/** Tests of what only a server on MongoDB does. */
export const describeOnMongoBackend = describeWhere(ON_MONGO);

/** With what query-plans.ts listens to. */
function watched(uri: string): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`;
}

function databaseOf(dataDir: string): string {
  // Not by URL: several hosts may be named.
  const [, hosts, options] = /^([^/]+\/\/[^/?]+)[^?]*(.*)$/.exec(MONGO_SERVER!)!;
  const name = createHash('sha256').update(basename(dataDir)).digest('hex').slice(0, 24);
  return `${hosts}/${process.env.PATCHBAY_TEST_RUN}-${name}${options}`;
}
