import { intoDatabase, fromDatabase } from './mongo/move-database.js';
import { move, type Tell } from './move/move.js';
import { type Kind, MoveError } from './move/records.js';
import { fromDirectory, intoDirectory } from './sqlite/move-directory.js';

export { KINDS, type Kind } from './move/records.js';

type Moved = Map<Kind, number>;

/** All data of a data directory into an empty database. MoveError, or a fault of the database's without its password. */
export function toMongo(dataDir: string, uri: string, tell: Tell): Promise<Moved> {
  return moving(uri, (keep) =>
    fromDirectory(dataDir, (source, name) =>
      intoDatabase(uri, name, async (target) => keep(await move(source, target, tell))),
    ),
  );
}

/** All data of a database into a data directory without any. */
export function fromMongo(uri: string, dataDir: string, tell: Tell): Promise<Moved> {
  return moving(uri, (keep) =>
    fromDatabase(uri, (source, name) =>
      intoDirectory(dataDir, name, async (target) => keep(await move(source, target, tell))),
    ),
  );
}

/** The URI as it may be shown: hosts and database. */
export function shownUri(uri: string): string {
  const [, scheme, rest] = /^(mongodb(?:\+srv)?:\/\/)([^?]*)/.exec(uri)!;
  return `${scheme}${rest!.slice(rest!.lastIndexOf('@') + 1)}`;
}

function moving(uri: string, work: (keep: (moved: Moved) => void) => Promise<void>): Promise<Moved> {
  return naming(uri, async () => {
    let moved: Moved = new Map();
    await work((all) => (moved = all));
    return moved;
  });
}

/** Says in a fault of the work which database it was, and no password. */
export async function naming<T>(uri: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MoveError)
      throw new MoveError(`${error.message} (${shownUri(uri)})`, { cause: error });
    throw new Error(withoutSecrets(uri, (error as Error).message), { cause: error });
  }
}

/** A driver's message may name the URI. */
function withoutSecrets(uri: string, message: string): string {
  const userInfo = /\/\/([^@/]*)@/.exec(uri)?.[1];
  const hidden = message.replaceAll(uri, shownUri(uri));
  if (userInfo === undefined) return hidden;
  const password = userInfo.slice(userInfo.indexOf(':') + 1);
  return [userInfo, password, decodeURIComponent(password)].reduce(
    (text, secret) => text.replaceAll(secret, '…'),
    hidden,
  );
}
