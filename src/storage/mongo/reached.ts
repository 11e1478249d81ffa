import { Logger } from '@nestjs/common';
import type { Connection } from 'mongoose';

/** Waits for a connection that is being opened; warns of a server without a replica set. */
export async function waitForConnection(connection: Connection, uri: string): Promise<void> {
  try {
    await connection.asPromise();
    await warnOfStandalone(connection);
  } catch (error) {
    await connection.close();
    throw new UnreachableError(uri, error as Error);
  }
}

/** Thrown at boot; its message contains no password. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(uri: string, { message }: Error) {
    const hosts = /^[^/]+\/\/(?:[^/?]*@)?([^/?]*)/.exec(uri)![1]!;
    super(
      `MongoDB at ${hosts} does not let this server in: ${message}. Look whether it runs and can be reached from here, and ` +
        'whether PATCHBAY_MONGODB_URI names its hosts, replica set, user and password rightly.',
    );
  }
}

async function warnOfStandalone({ db }: Connection): Promise<void> {
  // By its older name: compatible servers may not know `hello`.
  const { setName, msg } = await db!.admin().command({ isMaster: 1 });
  if (setName !== undefined || msg === 'isdbgrid') return;
  new Logger('Storage').warn(
    'The database is a standalone server: nothing takes over when it fails. For a replica set start mongod with ' +
      '--replSet rs0, run rs.initiate() once in mongosh, and add ?replicaSet=rs0 to PATCHBAY_MONGODB_URI',
  );
}
