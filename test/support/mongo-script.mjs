import { existsSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const BESIDE_THE_REPOSITORY = new URL('../../../shared/mongo/mongo-test-server.sh', import.meta.url);
const path = process.env.PATCHBAY_TEST_MONGO_SCRIPT || fileURLToPath(BESIDE_THE_REPOSITORY);

/** Starts a MongoDB-compatible server, `KIND PORT DIR`; null where it is not there. */
export const MONGO_SCRIPT = existsSync(path) ? path : null;
