import { join } from 'node:path';

import { sha256 } from '@patchbay/protocol/hash';

/**
 * The directory below PATCHBAY_HOME that holds one client's journal and lock. It depends on the server and the workspace
 * too: a server that never saw a call would answer `forget` for it, and its result would be lost.
 */
export function clientDirectory(
  home: string,
  client: { url: string; workspaceId: string; clientId: string },
): string {
  const key = sha256(JSON.stringify([client.url, client.workspaceId, client.clientId])).slice(0, 32);
  return join(home, 'clients', key);
}
