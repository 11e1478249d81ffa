import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';

/** A download that has not come to its end is given up then; one from which nothing comes, after a minute. */
const DOWNLOAD_MS = 600_000;
const LAUNCH_MS = 60_000;
const DOWNLOAD = `require('mongodb-memory-server-core').MongoBinary.getPath().then(
  (path) => console.log('\\n' + path),
  ({ message }) => { console.error(message); process.exit(1); },
)`;

const run = promisify(execFile);

let started = null;

/** Starts a replica set of one, with data of its own. Its URI, and the program that it is. */
export async function startMongo(choice) {
  const { MongoMemoryReplSet } = await import('mongodb-memory-server-core');
  // It needs no particular version.
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = 'false';
  const systemBinary = choice.kind === 'downloaded' ? await download() : choice.binary;
  started = new MongoMemoryReplSet({
    binary: { systemBinary },
    replSet: { count: 1, storageEngine: 'wiredTiger' },
    instanceOpts: [{ launchTimeout: LAUNCH_MS }],
  });
  try {
    await started.start();
  } catch (error) {
    await stopMongo();
    throw error;
  }
  return { uri: `mongodb://127.0.0.1:${started.servers[0].instanceInfo.port}/`, binary: systemBinary };
}

/** Ends the one that was started, and removes its data. */
export async function stopMongo() {
  await started?.stop({ doCleanup: true, force: true });
  started = null;
}

/** Where the program lies: what was downloaded once is not again. In a process of its own, as it can't be ended otherwise. */
async function download() {
  const env = { ...process.env, MONGOMS_MAX_RETRIES: process.env.MONGOMS_MAX_RETRIES ?? '1' };
  try {
    const { stdout } = await run(process.execPath, ['-e', DOWNLOAD], { env, timeout: DOWNLOAD_MS });
    return stdout.trim().split('\n').at(-1);
  } catch (error) {
    throw new Error(error.killed ? `no end after ${DOWNLOAD_MS / 1000} s` : error.stderr, { cause: error });
  }
}
