import { stderr } from 'node:process';
import { MONGO_SCRIPT } from './mongo-script.mjs';

/** Runs once before all specs: one line about the backends; a failure where MongoDB is asked for and not there. */
export default async function announceBackends() {
  const uri = process.env.PATCHBAY_TEST_MONGODB_URI;
  if (!uri && process.env.PATCHBAY_REQUIRE_MONGO === '1') {
    throw new Error('PATCHBAY_REQUIRE_MONGO=1, but PATCHBAY_TEST_MONGODB_URI names no server.');
  }
  // Databases of this run's servers begin so (backend.ts): drop-databases.mjs finds them after it.
  process.env.PATCHBAY_TEST_RUN = `patchbay-${process.pid}-${Date.now().toString(36)}`;
  const mongo = uri
    ? `MONGO on ${await serverAt(uri)}`
    : 'NOT mongo (PATCHBAY_TEST_MONGODB_URI names no server)';
  const servers = process.env.PATCHBAY_TEST_BACKEND === 'mongo' ? '; servers have their store on MONGO' : '';
  const outages =
    MONGO_SCRIPT === null ? '; NO outage of MongoDB (PATCHBAY_TEST_MONGO_SCRIPT names no script)' : '';
  stderr.write(`\n=== Storage backends of this run: SQLITE and ${mongo}${servers}${outages} ===\n`);
}

/** @param {string} uri */
async function serverAt(uri) {
  const { default: mongoose } = await import('mongoose');
  const options = { serverSelectionTimeoutMS: 10_000 };
  const connection = await mongoose.createConnection(uri, options).asPromise();
  try {
    const { version, ...build } = await connection.db.admin().command({ buildInfo: 1 });
    const { setName } = await connection.db.admin().command({ isMaster: 1 });
    const other = build.secantusVersion ? `SecantusDB ${build.secantusVersion}, which says ` : '';
    const form = setName ? `replica set ${setName}` : 'standalone';
    return `${other}${version}, ${form}, ${connection.host}:${connection.port}`;
  } finally {
    await connection.close();
  }
}
