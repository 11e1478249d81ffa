import { randomUUID } from 'node:crypto';
import { describeWhere } from './describe-where.js';

/** The server that the backend on MongoDB is tested on; none where nobody named one. announce-backends.mjs has asked it. */
export const MONGO_SERVER = process.env.PATCHBAY_TEST_MONGODB_URI || undefined;

/** A database of its own for one test, on a server that may have others. */
export function aDatabaseOn(server: string): { uri: string; drop: () => Promise<void> } {
  // Not by URL: several hosts may be named.
  const [, hosts, options] = /^([^/]+\/\/[^/?]+)[^?]*(.*)$/.exec(server)!;
  const uri = `${hosts}/patchbay-test-${randomUUID()}${options}`;
  return {
    uri,
    async drop() {
      const { default: mongoose } = await import('mongoose');
      const connection = await mongoose.createConnection(uri).asPromise();
      await connection.dropDatabase();
      await connection.close();
    },
  };
}

/** Tests of the backend on MongoDB alone. Where no server is named they are skipped, which the first line of the run says. */
export const describeOnMongo = describeWhere(MONGO_SERVER !== undefined);
