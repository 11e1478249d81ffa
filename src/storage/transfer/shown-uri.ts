import { TransferError } from './records.js';

/** The URI without credentials: hosts and database. */
export function shownUri(uri: string): string {
  const [, scheme, rest] = /^(mongodb(?:\+srv)?:\/\/)([^?]*)/.exec(uri)!;
  return `${scheme}${rest!.slice(rest!.lastIndexOf('@') + 1)}`;
}

/** Names the database, without its password, in errors of the work. */
export async function nameDatabase<T>(uri: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TransferError)
      throw new TransferError(`${error.message} (${shownUri(uri)})`, { cause: error });
    throw new Error(withoutSecrets(uri, (error as Error).message), { cause: error });
  }
}

/** A driver's message may contain the URI. */
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
