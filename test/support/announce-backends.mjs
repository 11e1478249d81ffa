import process, { stderr } from 'node:process';
import { HOW_TO_HAVE_MONGO, mongoChoice } from './mongo-choice.mjs';
import { startMongo } from './start-mongo.mjs';

/**
 * Starts a MongoDB server where one can be had and none is named, and names it to the
 * specs. One line says which backends the run has, on what; it fails where MongoDB is asked for and not there.
 */
export async function announceBackends() {
  // Databases of this run's servers begin so (backend.ts): drop-databases.mjs finds them after it.
  process.env.PATCHBAY_TEST_RUN = `patchbay-${process.pid}-${Date.now().toString(36)}`;
  const onMongo = process.env.PATCHBAY_TEST_BACKEND === 'mongo';
  const { is, absent } = await mongoOf(mongoChoice(process.env));
  if (absent && (onMongo || process.env.PATCHBAY_REQUIRE_MONGO === '1')) {
    const asked = onMongo ? 'PATCHBAY_TEST_BACKEND=mongo' : 'PATCHBAY_REQUIRE_MONGO=1';
    throw new Error(`${asked}, but there is no MongoDB server: ${absent}.`);
  }
  const servers = onMongo ? '; servers have their store on MONGO' : '';
  const outages = process.env.PATCHBAY_TEST_MONGO_SCRIPT
    ? ''
    : '; NO outage of MongoDB (PATCHBAY_TEST_MONGO_SCRIPT names no script)';
  const mongo = absent ? `NOT mongo (${absent})` : `MONGO on ${is}`;
  stderr.write(`\n=== Storage backends of this run: SQLITE and ${mongo}${servers}${outages} ===\n`);
}

/** What it is, or why there is none. One that is named has to be there. */
async function mongoOf(choice) {
  if (choice.kind === 'named') return { is: await serverAt(choice.uri) };
  if (choice.kind === 'none') return { absent: HOW_TO_HAVE_MONGO };
  try {
    const { uri, binary } = await startMongo(choice);
    process.env.PATCHBAY_TEST_MONGODB_URI = uri;
    return { is: `${await serverAt(uri)}, started from ${binary}` };
  } catch (error) {
    const what = choice.kind === 'downloaded' ? 'the download of mongod' : choice.binary;
    return { absent: `${what} came to nothing: ${error.message.trim().split('\n')[0]}` };
  }
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
